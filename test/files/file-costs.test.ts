import { beforeAll, describe, expect, it } from "vitest";
import { countingDatabase, rebindCoordinator } from "../support/bindings.ts";
import { bytesOf, freshFile, pattern, recordingBucket } from "../support/files.ts";

/**
 * The D1 calls of reads of Files and of a refused write, and what a download reads from R2. test/openapi/counts.json has the calls of one
 * request of each operation.
 */

/** An Item with two Files, and a D1 that counts the later calls of the Worker and of the coordinator. */
async function countedFile(bytes?: Uint8Array) {
  const fixture = await freshFile(bytes);
  await fixture.upload(pattern(1), "?name=another");
  const { count, db } = countingDatabase();
  await rebindCoordinator(fixture.vault, { DB: db });
  return { ...fixture, count, request: { env: { DB: db } } };
}

type File = Awaited<ReturnType<typeof freshFile>>;
const contentOf = ({ one }: File) => `${one}/content`;

it.each<[string, (file: File) => string, Record<string, string>, number]>([
  ["a download", contentOf, {}, 200],
  ["a download of a range", contentOf, { Range: "bytes=0-9" }, 206],
  ["a download of a range beyond the content", contentOf, { Range: "bytes=1000-" }, 416],
  ["a download with an If-None-Match that matches", contentOf, { "If-None-Match": "*" }, 304],
  ["the list of Files", ({ files }) => files, {}, 200],
  ["the list of Files with inlined contents", ({ files }) => `${files}?inline_files=true`, {}, 200],
  ["one File", ({ one }) => one, {}, 200],
  ["one File with its inlined content", ({ one }) => `${one}?inline_files=true`, {}, 200],
  ["an Item with its Files", ({ path }) => path, {}, 200],
])("one D1 call is enough for %s", async (_, pathOf, headers, status) => {
  const { count, request, ...file } = await countedFile();
  expect((await file.call("GET", pathOf(file), { ...request, headers })).status).toBe(status);
  expect(count.calls).toBe(1);
});

it("one D1 call is enough for a download of 3 MiB", async () => {
  const { count, request, download, file } = await countedFile(pattern(3 * 1024 * 1024));
  await (await download(file.id, request)).arrayBuffer();
  expect(count.calls).toBe(1);
});

it("a write that is refused before its body is read takes one D1 call and no read of R2", async () => {
  const { call, files, count, request } = await countedFile();
  const { ranges: reads, bucket } = recordingBucket();
  expect((await call("POST", files, { env: { ...request.env, FILES: bucket }, body: pattern(9) })).status).toBe(400);
  expect([count.calls, count.rowsWritten, reads]).toEqual([1, 0, []]);
});

/** The bytes of a chunk, of a sealed one, and of what is before the first one. */
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
