import { beforeAll, describe, expect, it } from "vitest";
import { bytesOf, freshFile, pattern, recordingBucket } from "../support/files.ts";

/** Ranges at the borders of encrypted chunks: they return the requested bytes and read only the chunks that contain them. */

const CHUNK = 16_384;
const SEALED = CHUNK + 16;
const HEADER = 56;

/** Three chunks, the last of them not full. */
const SIZE = 40_000;
const POSITIONS = [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK - 1, 2 * CHUNK, 2 * CHUNK + 1, SIZE - 1];
const PAIRS = POSITIONS.flatMap((start) => POSITIONS.filter((end) => end >= start).map((end) => [start, end] as const));
const bytes = pattern(SIZE);
let file: Awaited<ReturnType<typeof freshFile>>;
let tag: string;

/** Downloads the File. Also returns the ranges that were read from R2. */
async function read(headers: Record<string, string> = {}) {
  const { ranges, bucket } = recordingBucket();
  const response = await file.download(file.file.id, { headers, env: { FILES: bucket } });
  return { status: response.status, tag: response.headers.get("ETag"), bytes: await bytesOf(response), ranges };
}

beforeAll(async () => {
  file = await freshFile(bytes);
  tag = (await read()).tag!;
});

describe("a download reads from R2", () => {
  it.each(PAIRS)("only the header and the chunks that contain the range: %i to %i", async (start, end) => {
    const [first, last] = [Math.floor(start / CHUNK), Math.floor(end / CHUNK)];
    expect(await read({ Range: `bytes=${start}-${end}` })).toMatchObject({
      status: 206,
      bytes: bytes.slice(start, end + 1),
      ranges: [
        { offset: 0, length: HEADER },
        { offset: HEADER + first * SEALED, length: (last - first + 1) * SEALED },
      ],
    });
  });

  it("a whole content with one read", async () => {
    expect(await read()).toMatchObject({ status: 200, bytes, ranges: [undefined] });
  });

  it.each([
    ["unchanged", () => ({ "If-None-Match": tag }), 304],
    ["beyond the file", () => ({ Range: "bytes=40000-" }), 416],
  ])("nothing when the answer has no content: %s", async (_, headers, status) => {
    expect(await read(headers())).toMatchObject({ status, ranges: [] });
  });
});
