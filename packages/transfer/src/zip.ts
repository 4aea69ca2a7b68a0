import { sourceFault } from "./error.ts";
import { decodeText } from "./text.ts";

/** Reads ZIP archives (PKWARE APPNOTE 6.3). Their names are compared with other names and never used as paths. */

const LIMITS = {
  entries: 100_000,
  /** Maximum compression ratio; guards against zip bombs. Small archives are exempt. */
  ratio: 100,
  small: 100 * 1024 * 1024, // bytes
};

export interface Entry {
  readonly name: string;
  /** Bytes of the content. */
  readonly size: number;
  /** Returns the content. Throws a TransferError if it is damaged. */
  read(): Promise<Uint8Array>;
}

/** Returns true if the first bytes are those of an archive. */
export const isArchive = (head: Uint8Array): boolean => head[0] === 0x50 && head[1] === 0x4b && head[2] === 3 && head[3] === 4;

/** Returns the entries of an archive. Throws a TransferError for an incomplete or damaged archive, and for a zip bomb. */
export function openArchive(bytes: Uint8Array): Entry[] {
  try {
    return parseDirectory(bytes);
  } catch (error) {
    if (error instanceof RangeError) throw fault("is no ZIP archive, or ends too early");
    throw error;
  }
}

const fault = (what: string): Error => sourceFault("The archive", what);

function parseDirectory(bytes: Uint8Array): Entry[] {
  const data = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const { count, start } = findDirectory(data);
  if (count > LIMITS.entries) throw fault(`has more than ${LIMITS.entries} entries`);
  const rows: Row[] = [];
  for (let position = start; rows.length < count;) {
    const row = parseRow(data, bytes, position);
    position = row.next;
    rows.push(row);
  }
  if (new Set(rows.map(({ name }) => name)).size < rows.length) throw fault("has two entries of one name");
  const sum = (attribute: "packed" | "size") => rows.reduce((total, row) => total + row[attribute], 0);
  const bomb = sum("size") > LIMITS.small && sum("size") > LIMITS.ratio * bytes.length;
  if (bomb || sum("packed") > bytes.length) throw fault("expands to an unreasonable size and was rejected");
  return rows.map((row) => ({ name: row.name, size: row.size, read: () => extract(data, bytes, row) }));
}

interface Row {
  readonly name: string;
  readonly method: number;
  readonly crc: number;
  readonly packed: number;
  readonly size: number;
  readonly offset: number;
  readonly next: number;
}

/** The end record (section 4.3.16) lies in the last 64 KiB, before a comment. */
function findDirectory(data: DataView): { count: number; start: number } {
  for (let position = data.byteLength - 22; position >= Math.max(0, data.byteLength - 22 - 0xffff); position--) {
    if (data.getUint32(position, true) !== 0x06054b50) continue;
    const [count, start] = [data.getUint16(position + 10, true), data.getUint32(position + 16, true)];
    if (count !== 0xffff && start !== 0xffffffff) return { count, start };
    return findLargeDirectory(data, position - 20);
  }
  throw fault("is no ZIP archive, or ends too early");
}

/** ZIP64 (sections 4.3.14 and 4.3.15): the locator before the end record, and the record that it names. */
function findLargeDirectory(data: DataView, locator: number): { count: number; start: number } {
  const record = Number(data.getBigUint64(locator + 8, true));
  if (data.getUint32(locator, true) !== 0x07064b50 || data.getUint32(record, true) !== 0x06064b50)
    throw fault("is damaged: it has no directory");
  return { count: Number(data.getBigUint64(record + 32, true)), start: Number(data.getBigUint64(record + 48, true)) };
}

/** One row of the directory (section 4.3.12). */
function parseRow(data: DataView, bytes: Uint8Array, position: number): Row {
  if (data.getUint32(position, true) !== 0x02014b50) throw fault("is damaged: its directory is incomplete");
  const word = (at: number) => data.getUint16(position + at, true);
  const long = (at: number) => data.getUint32(position + at, true);
  const [nameEnd, extraEnd] = [position + 46 + word(28), position + 46 + word(28) + word(30)];
  // Sizes of 0xffffffff stand in the extra field of ZIP64, in this order (section 4.5.3).
  const large = largeValues(data, nameEnd, extraEnd);
  const [size, packed, offset] = [long(24), long(20), long(42)].map((value) =>
    value === 0xffffffff ? Number(large.shift() ?? value) : value,
  ) as [number, number, number];
  const name = decodeText(bytes.subarray(position + 46, nameEnd), "A name in the archive");
  const method = (word(8) & 1) === 1 ? ENCRYPTED : word(10);
  return { name, method, crc: long(16), packed, size, offset, next: extraEnd + word(32) };
}

const [STORED, DEFLATED, ENCRYPTED] = [0, 8, -1];

function largeValues(data: DataView, from: number, to: number): bigint[] {
  for (let position = from; position + 4 <= to; position += 4 + data.getUint16(position + 2, true)) {
    if (data.getUint16(position, true) !== 1) continue;
    const values = Math.floor(data.getUint16(position + 2, true) / 8);
    return Array.from({ length: values }, (_, index) => data.getBigUint64(position + 4 + index * 8, true));
  }
  return [];
}

async function extract(data: DataView, bytes: Uint8Array, { method, crc, packed, size, offset }: Row): Promise<Uint8Array> {
  if (method === ENCRYPTED) throw fault("is encrypted");
  if (method !== STORED && method !== DEFLATED) throw fault("uses a compression that is not supported");
  try {
    const start = offset + 30 + data.getUint16(offset + 26, true) + data.getUint16(offset + 28, true);
    const raw = bytes.subarray(start, start + packed);
    const content = method === STORED ? raw : await inflate(raw, size);
    if (content.length === size && crc32(content) === crc) return content;
  } catch {
    // It is reported below.
  }
  throw fault("is damaged: a content has not its size or checksum");
}

/** Unpacks DEFLATE (RFC 1951). Throws if the content is longer than its size, or damaged. */
async function inflate(raw: Uint8Array, size: number): Promise<Uint8Array> {
  const unpacked = new Blob([raw as Uint8Array<ArrayBuffer>]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const content = new Uint8Array(size);
  let length = 0;
  // Not every browser iterates over a stream.
  const reader = (unpacked as ReadableStream<Uint8Array>).getReader();
  for (let { value, done } = await reader.read(); !done && value; { value, done } = await reader.read()) {
    if (length + value.length > size) {
      await reader.cancel();
      throw new RangeError("The content is longer than its size");
    }
    content.set(value, length);
    length += value.length;
  }
  return content.subarray(0, length);
}

/** CRC-32 (ISO 3309). node:zlib has it from Node 20.15 on only. */

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value >>> 0;
});

function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = TABLE[(crc ^ byte) & 0xff]! ^ (crc >>> 8);
  return (crc ^ 0xffffffff) >>> 0;
}
