import { describe, expect, it } from "vitest";
import { countingDatabase, rebindCoordinator } from "../support/bindings.ts";
import { bytesOf, freshFile, pattern, recordingBucket } from "../support/files.ts";

/** The D1 calls of reads of Files, and of a refused write. Those of the writes are in test/openapi/counts.json. */

/** An Item with two Files, and a D1 that counts the later calls of the Worker and of the coordinator. */
async function countedFile(bytes?: Uint8Array) {
  const fixture = await freshFile(bytes);
  await fixture.upload(pattern(1), "?name=another");
  const { count, db } = countingDatabase();
  await rebindCoordinator(fixture.vault, { DB: db });
  return { ...fixture, count, request: { env: { DB: db } } };
}

describe("one D1 call is enough for", () => {
  it.each([0, 1, 3 * 1024 * 1024])("a download of %i bytes", async (size) => {
    const { download, file, count, request } = await countedFile(pattern(size));
    expect((await bytesOf(await download(file.id, request))).length).toBe(size);
    expect(count.calls).toBe(1);
  });

  it.each([
    ["a range", { Range: "bytes=0-9" }, 206],
    ["a range beyond the content", { Range: "bytes=1000-" }, 416],
    ["an If-None-Match that matches", { "If-None-Match": "*" }, 304],
  ])("a download with %s", async (_, headers, status) => {
    const { download, file, count, request } = await countedFile();
    expect((await download(file.id, { ...request, headers: headers as HeadersInit })).status).toBe(status);
    expect(count.calls).toBe(1);
  });

  it("the list of Files, without and with inlined contents", async () => {
    for (const query of ["", "?inline_files=true"]) {
      const { call, files, count, request } = await countedFile();
      expect((await call("GET", files + query, request)).body.length).toBe(2);
      expect(count.calls).toBe(1);
    }
  });

  it("one File, without and with its inlined content", async () => {
    for (const query of ["", "?inline_files=true"]) {
      const { call, one, count, request } = await countedFile();
      expect((await call("GET", one + query, request)).status).toBe(200);
      expect(count.calls).toBe(1);
    }
  });

  it("an Item with its Files", async () => {
    const { call, path, count, request } = await countedFile();
    expect((await call("GET", path, request)).body.files.length).toBe(2);
    expect(count.calls).toBe(1);
  });
});

describe("a write to Files", () => {
  it("that is refused before its body is read takes one D1 call and no read of R2", async () => {
    const { call, files, count, request } = await countedFile();
    const { ranges: reads, bucket } = recordingBucket();
    const env = { ...request.env, FILES: bucket };
    expect((await call("POST", files, { env, body: pattern(9) })).status).toBe(400);
    expect([count.calls, count.rowsWritten, reads]).toEqual([1, 0, []]);
  });
});
