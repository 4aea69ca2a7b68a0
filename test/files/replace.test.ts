import { describe, expect, it } from "vitest";
import { bytesOf, freshFile, pattern, stateOf } from "../support/files.ts";
import { client, makeToken } from "../support/service.ts";

/** PUT of a content: the File stays, and its bytes are replaced (contract 9.6). */

describe("a replaced content", () => {
  it("keeps the File's id, name and section; only the size changes", async () => {
    const { writes, call, one, file } = await freshFile(pattern(100));
    const { status, body } = await writes.PUT({}, pattern(300));
    expect([status, body]).toEqual([200, { ...file, size: 300 }]);
    expect((await call("GET", one)).body).toEqual(body);
  });

  it.each([0, 1, 16_384, 2 * 1024 * 1024])("is returned by every later download: %i bytes", async (size) => {
    const { writes, download, file } = await freshFile(pattern(50_000));
    const bytes = pattern(size).map((byte) => byte ^ 255);
    expect((await writes.PUT({}, bytes)).body.size).toBe(size);
    const response = await download(file.id);
    expect(response.headers.get("Content-Length")).toBe(String(size));
    expect(await bytesOf(response)).toEqual(bytes);
  });

  it("that was sent without Content-Length is downloaded unchanged", async () => {
    const { call, one, download, file } = await freshFile();
    expect((await call("PUT", `${one}/content`, { body: new Blob([pattern(70_000)]).stream() })).status).toBe(200);
    expect(await bytesOf(await download(file.id))).toEqual(pattern(70_000));
  });

  it("is empty when the request has no body", async () => {
    const { call, one, download, file } = await freshFile();
    expect((await call("PUT", `${one}/content`)).body.size).toBe(0);
    expect((await bytesOf(await download(file.id))).length).toBe(0);
  });

  it("has a new ETag, even when its bytes are the same", async () => {
    const { writes, download, file } = await freshFile(pattern(300));
    const before = (await download(file.id)).headers.get("ETag");
    await writes.PUT({}, pattern(300));
    expect((await download(file.id)).headers.get("ETag")).not.toBe(before);
  });

  it("is returned whole, in ranges, inlined and to conditional requests with the old ETag", async () => {
    const { writes, download, call, one, file } = await freshFile(pattern(100));
    const tag = (await download(file.id)).headers.get("ETag")!;
    const bytes = pattern(100).map((byte) => byte ^ 255);
    await writes.PUT({}, bytes);
    const part = await download(file.id, { headers: { Range: "bytes=10-19" } });
    const resumed = await download(file.id, { headers: { Range: "bytes=10-19", "If-Range": tag } });
    const conditional = await download(file.id, { headers: { "If-None-Match": tag } });
    expect(await bytesOf(part)).toEqual(bytes.slice(10, 20));
    expect([resumed.status, await bytesOf(resumed)]).toEqual([200, bytes]);
    expect([conditional.status, await bytesOf(conditional)]).toEqual([200, bytes]);
    expect((await call("GET", `${one}?inline_files=true`)).body.content).toBe(bytes.toBase64());
  });

  it("raises the Item's version by 1 and names the writing token in lastEditedBy", async () => {
    const fixture = await freshFile();
    const before = await stateOf(fixture);
    const writer = await makeToken({ [fixture.vault]: "rw" });
    const reply = await client(writer.token)("PUT", `${fixture.one}/content`, { body: pattern(3) });
    const after = await stateOf(fixture);
    expect(after.item).toMatchObject({ version: before.item.version + 1, lastEditedBy: writer.id, files: [reply.body] });
    expect([after.contentVersion, after.rows.length]).toEqual([before.contentVersion + 1, 1]);
  });

  it("does not take name or section from the query", async () => {
    const { call, one, file } = await freshFile();
    const undocumented = "only an upload takes them";
    const { body } = await call("PUT", `${one}/content?name=other&section=other`, { body: pattern(100), undocumented });
    expect(body).toEqual(file);
  });

  it("does not change the other Files of the Item", async () => {
    const { upload, writes, download } = await freshFile();
    const other = (await upload(pattern(55), "?name=other")).body;
    await writes.PUT();
    expect(await bytesOf(await download(other.id))).toEqual(pattern(55));
  });

  it("for a missing File is answered 404 with the id as the client wrote it, and nothing is stored", async () => {
    const fixture = await freshFile();
    const before = await stateOf(fixture);
    for (const id of [crypto.randomUUID().toUpperCase(), "nonsense", "a b"]) {
      const { body } = await fixture.call("PUT", `${fixture.files}/${encodeURIComponent(id)}/content`, { body: pattern(1) });
      expect(body).toEqual({ status: 404, message: `file ${id} not found` });
    }
    expect(await stateOf(fixture)).toEqual(before);
  });
});
