import { beforeAll, describe, expect, it } from "vitest";
import { bytesOf, freshFile, pattern, recordingBucket } from "../support/files.ts";

/** Ranges at the borders of encrypted chunks. They return the requested bytes and read only the chunks that contain them. */

const CHUNK = 16_384;
const SEALED = CHUNK + 16;
const HEADER = 56;

/** Three chunks, the last of them not full. */
const SIZE = 40_000;
const POSITIONS = [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK - 1, 2 * CHUNK, 2 * CHUNK + 1, SIZE - 1];
const PAIRS = POSITIONS.flatMap((start) => POSITIONS.filter((end) => end >= start).map((end) => [start, end] as const));
const bytes = pattern(SIZE);
let file: Awaited<ReturnType<typeof freshFile>>;

beforeAll(async () => {
  file = await freshFile(bytes);
});

/** Expects a 206 with exactly these bytes of the whole. */
async function expectSlice(fixture: typeof file, whole: Uint8Array, start: number, end: number): Promise<void> {
  const response = await fixture.download(fixture.file.id, { headers: { Range: `bytes=${start}-${end}` } });
  const { status, headers } = response;
  const actual = [status, headers.get("Content-Range"), headers.get("Content-Length")];
  expect(actual).toEqual([206, `bytes ${start}-${end}/${whole.length}`, String(end - start + 1)]);
  expect(await bytesOf(response)).toEqual(whole.slice(start, end + 1));
}

describe("a range", () => {
  it.each(PAIRS)("from %i to %i of three chunks returns these bytes", async (start, end) => {
    await expectSlice(file, bytes, start, end);
  });

  it("of complete chunks, which an empty chunk follows, returns these bytes", async () => {
    const whole = pattern(3 * CHUNK);
    const fixture = await freshFile(whole);
    const last = whole.length - 1;
    for (const start of [0, CHUNK, 2 * CHUNK, last]) await expectSlice(fixture, whole, start, last);
  });

  it("across the pieces of 1 MiB in which a content is read returns these bytes", async () => {
    const MIB = 1024 * 1024;
    const whole = pattern(3 * MIB + 5);
    const fixture = await freshFile(whole);
    for (const [start, end] of [
      [0, 3 * MIB + 4],
      [MIB - 1, 2 * MIB],
      [MIB, 2 * MIB - 1],
      [CHUNK + 1, MIB + CHUNK],
      [MIB - CHUNK - 1, 3 * MIB],
      [3 * MIB, 3 * MIB + 4],
    ] as const) {
      await expectSlice(fixture, whole, start, end);
    }
  });
});

describe("a download reads from R2", () => {
  it("only the header and the chunks that contain the range, for every pair of positions", async () => {
    for (const [start, end] of PAIRS) {
      const { ranges: reads, bucket } = recordingBucket();
      const response = await file.download(file.file.id, { headers: { Range: `bytes=${start}-${end}` }, env: { FILES: bucket } });
      const [first, last] = [Math.floor(start / CHUNK), Math.floor(end / CHUNK)];
      expect(await bytesOf(response)).toEqual(bytes.slice(start, end + 1));
      expect(reads).toEqual([
        { offset: 0, length: HEADER },
        { offset: HEADER + first * SEALED, length: (last - first + 1) * SEALED },
      ]);
    }
  });

  it("a whole content with one read", async () => {
    const { ranges: reads, bucket } = recordingBucket();
    expect(await bytesOf(await file.download(file.file.id, { env: { FILES: bucket } }))).toEqual(bytes);
    expect(reads).toEqual([undefined]);
  });

  it.each([
    ["unchanged", (tag: string) => ({ "If-None-Match": tag }), 304],
    ["beyond the file", () => ({ Range: "bytes=40000-" }), 416],
  ])("nothing when the answer has no content: %s", async (_, headers, status) => {
    const tag = (await file.download(file.file.id)).headers.get("ETag")!;
    const { ranges: reads, bucket } = recordingBucket();
    const response = await file.download(file.file.id, { headers: headers(tag) as HeadersInit, env: { FILES: bucket } });
    expect([response.status, reads]).toEqual([status, []]);
  });
});
