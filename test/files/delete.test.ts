import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { KEEP_NOTHING, setVariables } from "../support/bindings.ts";
import { bytesOf, freshFile, pattern, stateOf } from "../support/files.ts";
import { admin, LOGIN } from "../support/service.ts";
import { UNDER_LOAD } from "../support/waits.ts";

/** Deletion of Files: alone, with their Item, and with their vault (contract 9.7, 13.13). */

const countRows = async (vault: string): Promise<number> =>
  (await env.DB.prepare("SELECT count(*) AS n FROM files WHERE vault_id = ?1").bind(vault).first<number>("n"))!;

describe("DELETE of a File", () => {
  it("is answered 204 with an empty body; then no path and no list has the File", async () => {
    const { writes, call, one, files, path, file, vault } = await freshFile();
    const { status, text } = await writes.DELETE();
    expect([status, text]).toEqual([204, ""]);
    const notFound = { status: 404, message: `file ${file.id} not found` };
    expect((await call("GET", one)).body).toEqual(notFound);
    expect((await call("GET", `${one}/content`)).body).toEqual(notFound);
    expect((await call("PUT", `${one}/content`, { body: pattern(1) })).body).toEqual(notFound);
    expect((await call("DELETE", one)).body).toEqual(notFound);
    expect((await call("GET", files)).body).toEqual([]);
    expect((await call("GET", path)).body.files).toEqual([]);
    expect(await countRows(vault)).toBe(0);
  });

  it("raises the versions of the Item and of its vault by 1, and keeps the section", async () => {
    const fixture = await freshFile();
    const before = await stateOf(fixture);
    await fixture.writes.DELETE();
    const after = await stateOf(fixture);
    expect([after.item.version, after.contentVersion]).toEqual([before.item.version + 1, before.contentVersion + 1]);
    expect(after.item.sections).toEqual(before.item.sections);
  });

  it("does not change the other Files of the Item", async () => {
    const { upload, writes, call, files, download } = await freshFile();
    const others = [(await upload(pattern(1), "?name=g")).body, (await upload(pattern(2), "?name=h")).body];
    await writes.DELETE();
    const remaining = (await call("GET", files)).body;
    expect(remaining.length).toBe(2);
    expect(remaining).toEqual(expect.arrayContaining(others));
    expect(await bytesOf(await download(others[1].id))).toEqual(pattern(2));
  });

  it.each([
    ["a UUID that names nothing", crypto.randomUUID()],
    ["in upper case", crypto.randomUUID().toUpperCase()],
    ["26 characters", "h6uf6zcxc5cwfm74fsld6zvpuy"],
    ["26 characters that are not base32", "0".repeat(26)],
    ["any text", "nonsense"],
    ["text with spaces, quotes and a slash", 'a "b" c/d'],
    ["an emoji", "📎"],
    ["a NUL", "a\0b"],
  ])("whose id names no File is answered 404 with the id as the client wrote it (contract 3.4, 3.7): %s", async (_, id) => {
    const fixture = await freshFile();
    const before = await stateOf(fixture);
    const { body } = await fixture.call("DELETE", `${fixture.files}/${encodeURIComponent(id)}`);
    expect(body).toEqual({ status: 404, message: `file ${id} not found` });
    expect(await stateOf(fixture)).toEqual(before);
  });

  it("repeats at most 64 characters of the id in the message", async () => {
    const { call, files } = await freshFile();
    expect((await call("DELETE", `${files}/${"x".repeat(500)}`)).body.message).toBe(`file ${"x".repeat(64)} not found`);
  });

  it("accepts the File's id in either form and in any case", async () => {
    const short = await freshFile(pattern(1), "connect");
    const { body: files } = await short.call("GET", short.files);
    expect(files[0].id).toMatch(/^[a-z2-7]{26}$/);
    const canonical = (await stateOf(short)).rows[0]!["id"] as string;
    expect((await short.call("DELETE", `${short.files}/${canonical.toUpperCase()}`)).status).toBe(204);
  });
});

describe("DELETE of an Item", () => {
  it("without a retention deletes its Files and those of no other Item", async () => {
    const { call, items, path, one, files, vault } = await freshFile();
    await setVariables(vault, KEEP_NOTHING);
    const other = (await call("POST", items, { body: LOGIN })).body.id;
    await call("POST", `${items}/${other}/files?name=stays`, { body: pattern(9) });
    await call("POST", `${files}?name=second`, { body: pattern(9) });
    expect((await call("DELETE", path)).status).toBe(204);
    expect(await countRows(vault)).toBe(1);
    expect((await call("GET", files)).status).toBe(404);
    expect((await call("GET", `${one}/content`)).body.message).toMatch(/^item .* not found$/);
    expect((await call("GET", `${items}/${other}/files`)).body.map(({ name }: { name: string }) => name)).toEqual(["stays"]);
  });
});

describe("DELETE of a vault", () => {
  it("makes its Files a 404 at once, and a job deletes their rows", async () => {
    const { call, vault, one } = await freshFile();
    expect(await countRows(vault)).toBe(1);
    expect((await admin("DELETE", `/v1/admin/vaults/${vault}`)).status).toBe(204);
    expect((await call("GET", `${one}/content`)).body).toEqual({ status: 404, message: `vault ${vault} not found` });
    await expect.poll(() => countRows(vault), UNDER_LOAD).toBe(0);
  });
});
