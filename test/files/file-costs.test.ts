import { describe, expect, it } from "vitest";
import { countingDatabase, rebindCoordinator } from "../support/bindings.ts";
import { bytesOf, freshFile, lengthOf, pattern, watchedBucket } from "../support/files.ts";

/** What an operation on Files costs: D1 calls, those of the Worker and those of the coordinator. */

/** A File, and a D1 that counts for both from now on. */
async function countedFile(bytes?: Uint8Array) {
  const world = await freshFile(bytes);
  await world.upload(pattern(1), "?name=another");
  const { count, db } = countingDatabase();
  await rebindCoordinator(world.vault, { DB: db });
  return { ...world, count, request: { env: { DB: db } } };
}

describe("a read of Files is one D1 call", () => {
  it.each([0, 1, 3 * 1024 * 1024])("download %i bytes", async (size) => {
    const { download, file, count, request } = await countedFile(pattern(size));
    expect((await bytesOf(await download(file.id, request))).length).toBe(size);
    expect(count.calls).toBe(1);
  });

  it.each([
    ["a range", { Range: "bytes=0-9" }, 206],
    ["a range beyond the file", { Range: "bytes=1000-" }, 416],
    ["nothing new", { "If-None-Match": "*" }, 304],
  ])("download %s", async (_, headers, status) => {
    const { download, file, count, request } = await countedFile();
    expect((await download(file.id, { ...request, headers: headers as HeadersInit })).status).toBe(status);
    expect(count.calls).toBe(1);
  });

  it("list the Files, and inline", async () => {
    for (const query of ["", "?inline_files=true"]) {
      const { call, files, count, request } = await countedFile();
      expect((await call("GET", files + query, request)).body.length).toBe(2);
      expect(count.calls).toBe(1);
    }
  });

  it("GET a File, and inline", async () => {
    for (const query of ["", "?inline_files=true"]) {
      const { call, one, count, request } = await countedFile();
      expect((await call("GET", one + query, request)).status).toBe(200);
      expect(count.calls).toBe(1);
    }
  });

  it("GET an Item with its Files", async () => {
    const { call, path, count, request } = await countedFile();
    expect((await call("GET", path, request)).body.files.length).toBe(2);
    expect(count.calls).toBe(1);
  });
});

describe("a write of Files", () => {
  it("is three D1 calls for an upload, and writes four rows: the File, its Item, its vault, the activity log", async () => {
    const { call, files, count, request } = await countedFile();
    const bytes = pattern(2 * 1024 * 1024);
    const reply = await call("POST", `${files}?name=g`, { ...request, headers: lengthOf(bytes), body: bytes });
    expect(reply.status).toBe(200);
    expect(count).toMatchObject({ calls: 3, rowsWritten: 4 });
  });

  it("is three D1 calls for other content", async () => {
    const { call, one, count, request } = await countedFile();
    expect((await call("PUT", `${one}/content`, { ...request, body: pattern(9) })).status).toBe(200);
    expect(count).toMatchObject({ calls: 3, rowsWritten: 4 });
  });

  it("is two D1 calls for the deletion of a File", async () => {
    const { call, one, count, request } = await countedFile();
    expect((await call("DELETE", one, request)).status).toBe(204);
    expect(count).toMatchObject({ calls: 2, rowsWritten: 4 });
  });

  it("that is refused before the bytes costs one D1 call and nothing in R2", async () => {
    const { call, files, count, request } = await countedFile();
    const { asked, bucket } = watchedBucket();
    const env = { ...request.env, FILES: bucket };
    expect((await call("POST", files, { env, body: pattern(9) })).status).toBe(400);
    expect([count.calls, count.rowsWritten, asked]).toEqual([1, 0, []]);
  });
});
