import { expect, it } from "vitest";
import { countingDatabase, rebindCoordinator } from "../support/bindings.ts";
import { freshFile, pattern, recordingBucket } from "../support/files.ts";

/** The D1 calls of reads of Files, and of a refused write. test/openapi/counts.json has those of one request of each operation. */

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
