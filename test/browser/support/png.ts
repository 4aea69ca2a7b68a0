import { crc32, deflateSync, inflateSync } from "node:zlib";

/** Makes screenshots smaller: at most 256 colors, in a palette (PNG specification, third edition). */

const SIGNATURE = Buffer.from("89504e470d0a1a0a", "hex");
const COLORS = 256;

interface Pixels {
  readonly width: number;
  readonly height: number;
  /** 0xRRGGBB for each pixel, in rows. */
  readonly colors: Uint32Array;
}

/** A PNG file with at most 256 colors. In: one as Chromium writes it, 8 bits for each channel, not interlaced. */
export function reduceColors(file: Uint8Array): Buffer {
  const { width, height, colors } = parsePng(Buffer.from(file));
  const counts = new Map<number, number>();
  for (const color of colors) counts.set(color, (counts.get(color) ?? 0) + 1);
  const palette = [...counts.keys()].toSorted((a, b) => counts.get(b)! - counts.get(a)! || a - b).slice(0, COLORS);
  const indexes = new Map([...counts.keys()].map((color) => [color, nearest(palette, color)]));
  const rows = Buffer.alloc((width + 1) * height); // A row begins with its filter, 0: none.
  for (const [at, color] of colors.entries()) rows[at + Math.floor(at / width) + 1] = indexes.get(color)!;
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3], 8); // 8 bits for each pixel, which is an index into the palette
  const entries = Buffer.from(palette.flatMap(channelsOf));
  return Buffer.concat([
    SIGNATURE,
    chunk("IHDR", header),
    chunk("PLTE", entries),
    chunk("IDAT", deflateSync(rows, { level: 9 })),
    chunk("IEND"),
  ]);
}

const channelsOf = (color: number): number[] => [color >> 16, (color >> 8) & 255, color & 255];

/** The index of the color of the palette that differs least. */
function nearest(palette: readonly number[], color: number): number {
  const [red = 0, green = 0, blue = 0] = channelsOf(color);
  const distances = palette.map((one) => {
    const [r = 0, g = 0, b = 0] = channelsOf(one);
    return (red - r) ** 2 + (green - g) ** 2 + (blue - b) ** 2;
  });
  return distances.indexOf(Math.min(...distances));
}

function chunk(type: string, data: Uint8Array = Buffer.alloc(0)): Buffer {
  const content = Buffer.concat([Buffer.from(type), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(content));
  return Buffer.concat([length, content, sum]);
}

/** Errors: throws for a file that Chromium does not write. */
function parsePng(file: Buffer): Pixels {
  const chunks: { readonly type: string; readonly data: Buffer }[] = [];
  for (let at = SIGNATURE.length; at < file.length; at += 12 + chunks.at(-1)!.data.length) {
    const length = file.readUInt32BE(at);
    chunks.push({ type: file.toString("latin1", at + 4, at + 8), data: file.subarray(at + 8, at + 8 + length) });
  }
  const header = chunks[0]!.data;
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const channels = { 2: 3, 6: 4 }[header[9]!];
  if (header[8] !== 8 || channels === undefined || header[12] !== 0) throw new Error("The picture has an unknown form");
  const data = inflateSync(Buffer.concat(chunks.filter(({ type }) => type === "IDAT").map((one) => one.data)));
  const bytes = unfilter(data, width * channels, channels);
  const colors = Uint32Array.from({ length: width * height }, (_, index) => bytes.readUIntBE(index * channels, 3));
  return { width, height, colors };
}

/** What a filter adds, by its number: of the bytes to the left, above, and to the left above. */
const PREDICTED: readonly ((left: number, up: number, corner: number) => number)[] = [
  () => 0,
  (left) => left,
  (_, up) => up,
  (left, up) => (left + up) >> 1,
  (left, up, corner) => {
    const estimate = left + up - corner;
    const [a, b, c] = [left, up, corner].map((value) => Math.abs(estimate - value)) as [number, number, number];
    return a <= b && a <= c ? left : b <= c ? up : corner;
  },
];

/** The bytes of the rows without their filters (PNG specification, 9). `step`: bytes for each pixel. */
function unfilter(data: Buffer, length: number, step: number): Buffer {
  const height = data.length / (length + 1);
  const bytes = Buffer.alloc(length * height);
  for (let row = 0; row < height; row++) {
    const predict = PREDICTED[data[row * (length + 1)]!]!;
    for (let column = 0; column < length; column++) {
      const at = row * length + column;
      const left = column < step ? 0 : bytes[at - step]!;
      const up = row === 0 ? 0 : bytes[at - length]!;
      const corner = column < step || row === 0 ? 0 : bytes[at - length - step]!;
      bytes[at] = data[at + row + 1]! + predict(left, up, corner);
    }
  }
  return bytes;
}
