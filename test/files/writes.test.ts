import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { currentTag, otherTag } from "../support/etags.ts";
import { bytesOf, freshFile, freshItem, itemIn, objectsOf, pattern, stateOf } from "../support/files.ts";
import { LOGIN, makeToken, shareVault } from "../support/service.ts";

/** What POST, PUT and DELETE of a File change (contract 2.18, 9.2, 9.4, 9.6, 9.7), and their If-Match (contract 10.2, 10.3). */

const WRITES = ["POST", "PUT", "DELETE"] as const;
const sharedVault = shareVault();
const newItem = async () => itemIn(await sharedVault());

const KIB = 1024;
const SIZES = [0, 1, 16 * KIB - 1, 16 * KIB, 16 * KIB + 1, 32 * KIB, KIB * KIB - 1, KIB * KIB, KIB * KIB + 1, 3 * KIB * KIB];
const streamOf = (bytes: Uint8Array) => new Blob([bytes]).stream();

describe("a content is downloaded unchanged", () => {
  describe.each([
    ["with", (bytes: Uint8Array) => bytes],
    ["without", streamOf],
  ])("when it was sent %s Content-Length", (_, sent) => {
    it.each(SIZES)("as a new one and as another one, of %i bytes", async (size) => {
      const { upload, download, call, files } = await newItem();
      const [bytes, other] = [pattern(size), pattern(size).map((byte) => byte ^ 255)];
      const added = await upload(sent(other));
      expect([added.status, added.body.size]).toEqual([200, size]);
      expect(await bytesOf(await download(added.body.id))).toEqual(other);
      const replaced = await call("PUT", `${files}/${added.body.id}/content`, { body: sent(bytes) });
      expect([replaced.status, replaced.body]).toEqual([200, added.body]);
      const response = await download(added.body.id);
      expect([response.headers.get("Content-Length"), await bytesOf(response)]).toEqual([String(size), bytes]);
    });
  });

  it("when it is empty, because the request has no body", async () => {
    const { call, files, download } = await newItem();
    const { body } = await call("POST", `${files}?name=empty`);
    expect([body.size, (await bytesOf(await download(body.id))).length]).toEqual([0, 0]);
    expect((await call("PUT", `${files}/${body.id}/content`)).body).toEqual(body);
  });
});

describe.each(WRITES)("%s", (method) => {
  it("changes version, updatedAt, lastEditedBy and Files of the Item and the vault's contentVersion, and nothing else", async () => {
    const fixture = await freshFile();
    const before = await stateOf(fixture);
    const writer = await makeToken({ [fixture.vault]: "rw" });
    const { status, body } = await fixture.writes[method]({ Authorization: `Bearer ${writer.token}` });
    const files = { POST: [fixture.file, body], PUT: [body], DELETE: [] }[method];
    const after = await stateOf(fixture);
    expect(status).toBe(method === "DELETE" ? 204 : 200);
    expect(after.item).toEqual({
      ...before.item,
      version: before.item.version + 1,
      updatedAt: expect.any(String),
      lastEditedBy: writer.id,
      files: expect.arrayContaining(files),
    });
    expect([after.item.files.length, after.rows.length]).toEqual([files.length, files.length]);
    expect(Date.parse(after.item.updatedAt)).toBeGreaterThanOrEqual(Date.parse(before.item.updatedAt));
    expect(after.contentVersion).toBe(before.contentVersion + 1);
  });

  it("has an entry in the activity log", async () => {
    const { vault, item, writes } = await freshFile();
    await writes[method]();
    const entries = env.DB.prepare("SELECT action, item_id, version FROM activity WHERE vault_id = ?1 ORDER BY id DESC");
    expect((await entries.bind(vault).all()).results[0]).toEqual({ action: "UPDATE", item_id: item, version: 3 });
  });

  it("does not change the other Files of the Item", async () => {
    const { upload, writes, call, files, download } = await freshFile();
    const others = [(await upload(pattern(55), "?name=g")).body, (await upload(pattern(2), "?name=h")).body];
    await writes[method]();
    expect((await call("GET", files)).body).toEqual(expect.arrayContaining(others));
    expect(await bytesOf(await download(others[0].id))).toEqual(pattern(55));
  });

  it("with an If-Match that contains the Item's tag takes effect", async () => {
    for (const header of ["<tag>", "W/<tag>", "*", `${otherTag(1)}, <tag>`]) {
      const { writes, call, path } = await freshFile();
      const tag = header.replace("<tag>", await currentTag(call, path));
      expect([200, 204]).toContain((await writes[method]({ "If-Match": tag })).status);
      expect((await call("GET", path)).body.version).toBe(3);
    }
  });

  it.each([
    ["does not contain the Item's tag is answered 412", [otherTag(2), '"2"', `W/${otherTag(2)}`, '""'], 412],
    ["is not a list of entity tags is answered 400", ["2", "nonsense", ""], 400],
  ] as const)("with an If-Match that %s, and nothing is stored", async (_, tags, refusal) => {
    const fixture = await freshFile();
    const before = await stateOf(fixture);
    for (const tag of tags) {
      const { status, body } = await fixture.writes[method]({ "If-Match": tag });
      const message = { 412: "If-Match names another version than the current one", 400: expect.any(String) }[refusal];
      expect([status, body]).toEqual([refusal, { status: refusal, message }]);
    }
    expect(await stateOf(fixture)).toEqual(before);
  });
});

describe("an upload", () => {
  it("stores one object in R2, whose key consists of ids", async () => {
    const { vault, upload } = await freshItem();
    const { body } = await upload(pattern(10), "?name=secret-plans.txt");
    expect(await objectsOf(vault)).toEqual([expect.stringMatching(new RegExp(`^${vault}/${body.id}/[0-9a-f-]{36}$`))]);
  });

  it("with the name of another File creates another File", async () => {
    const { upload, call, files } = await newItem();
    const [first, second] = [(await upload(pattern(1))).body, (await upload(pattern(2))).body];
    expect(second.id).not.toBe(first.id);
    expect((await call("GET", files)).body.map(({ name }: { name: string }) => name)).toEqual(["f", "f"]);
  });

  it("that is concurrent with nine others keeps all ten Files", async () => {
    const fixture = await freshItem();
    const replies = await Promise.all(Array.from({ length: 10 }, (_, n) => fixture.upload(pattern(n), `?name=${n}`)));
    expect(replies.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200));
    const { item, rows, objects } = await stateOf(fixture);
    expect([item.version, item.files.length, rows.length, objects.length]).toEqual([11, 10, 10, 10]);
  });

  it("with one tag of the Item is allowed to one of five at the same time; the others store nothing", async () => {
    const fixture = await freshFile();
    const tag = await currentTag(fixture.call, fixture.path);
    const replies = await Promise.all(Array.from({ length: 5 }, () => fixture.writes.POST({ "If-Match": tag })));
    expect(replies.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 412, 412, 412, 412]);
    const { rows, objects } = await stateOf(fixture);
    expect([rows.length, objects.length]).toEqual([2, 2]);
  });
});

describe("the section of an upload", () => {
  it("may be declared by the Item", async () => {
    const { call, items } = await newItem();
    const sections = [{ id: "scans", label: "Scans" }];
    const path = `${items}/${(await call("POST", items, { body: { ...LOGIN, sections } })).body.id}`;
    expect((await call("POST", `${path}/files?name=f&section=scans`)).body.section).toEqual({ id: "scans" });
    expect((await call("GET", path)).body.sections).toEqual(sections);
  });

  it("is added to the Item once when it is not declared", async () => {
    const { upload, call, path } = await newItem();
    for (const name of ["f", "g"])
      expect((await upload(pattern(1), `?name=${name}&section=New%20%F0%9F%93%8E`)).body.section).toEqual({ id: "New 📎" });
    expect((await call("GET", path)).body.sections).toEqual([{ id: "New 📎", label: "" }]);
  });

  it.each(["?name=f", "?name=f&section="])("is absent when the query has none: %s", async (query) => {
    const { upload, call, path } = await newItem();
    expect((await upload(pattern(1), query)).body).not.toHaveProperty("section");
    expect((await call("GET", path)).body.sections).toEqual([]);
  });

  it("is refused when the Item already has the most sections that are allowed", async () => {
    const { call, items, vault } = await freshItem();
    const sections = Array.from({ length: 1_000 }, (_, n) => ({ id: `s${n}` }));
    const path = `${items}/${(await call("POST", items, { body: { ...LOGIN, sections } })).body.id}`;
    expect((await call("POST", `${path}/files?name=f&section=one-more`)).status).toBe(400);
    expect(await objectsOf(vault)).toEqual([]);
    expect((await call("GET", path)).body.sections.length).toBe(1_000);
  });

  it("is refused when the Item would exceed 512 KiB, and nothing is stored", async () => {
    const fixture = await freshItem();
    const sections = Array.from({ length: 6 }, (_, n) => ({ id: `s${n}`, label: "x".repeat(65_000) }));
    const put = { ...LOGIN, vault: { id: fixture.vault }, sections };
    expect((await fixture.call("PUT", fixture.path, { body: put })).status).toBe(200);
    const statuses: number[] = [];
    for (const letter of "abcdefghi")
      statuses.push((await fixture.upload(pattern(1), `?name=f&section=${letter.repeat(255)}`)).status);
    const accepted = statuses.filter((status) => status === 200).length;
    const { rows, objects, item } = await stateOf(fixture);
    expect(statuses.at(-1)).toBe(400);
    expect([accepted > 0, rows.length, objects.length, item.version]).toEqual([true, accepted, accepted, 2 + accepted]);
  });
});

describe("a replaced content", () => {
  it("keeps the File's id, name and section; only the size changes, whatever the query says", async () => {
    const { call, one, file } = await freshFile(pattern(100));
    const undocumented = "only an upload takes them";
    const { status, body } = await call("PUT", `${one}/content?name=other&section=other`, { body: pattern(300), undocumented });
    expect([status, body]).toEqual([200, { ...file, size: 300 }]);
    expect((await call("GET", one)).body).toEqual(body);
  });

  it("is returned whole, in ranges, inlined and to conditional requests with the old ETag", async () => {
    const { writes, download, call, one, file } = await freshFile(pattern(100));
    const tag = (await download(file.id)).headers.get("ETag")!;
    const bytes = pattern(100).map((byte) => byte ^ 255);
    await writes.PUT({}, bytes);
    const part = await download(file.id, { headers: { Range: "bytes=10-19" } });
    expect(await bytesOf(part)).toEqual(bytes.slice(10, 20));
    for (const headers of [{ Range: "bytes=10-19", "If-Range": tag }, { "If-None-Match": tag }] as Record<string, string>[]) {
      const response = await download(file.id, { headers });
      expect([response.status, await bytesOf(response)]).toEqual([200, bytes]);
    }
    expect((await call("GET", `${one}?inline_files=true`)).body.content).toBe(bytes.toBase64());
  });

  it("has a new ETag, even when its bytes are the same", async () => {
    const { writes, download, file } = await freshFile(pattern(300));
    const before = (await download(file.id)).headers.get("ETag");
    await writes.PUT({}, pattern(300));
    expect((await download(file.id)).headers.get("ETag")).not.toBe(before);
  });
});

describe("a File that does not exist", () => {
  it.each([
    ["a UUID that names nothing", crypto.randomUUID()],
    ["in upper case", crypto.randomUUID().toUpperCase()],
    ["26 characters", "h6uf6zcxc5cwfm74fsld6zvpuy"],
    ["26 characters that are not base32", "0".repeat(26)],
    ["any text", "nonsense"],
    ["text with spaces, quotes and a slash", 'a "b" c/d'],
    ["an emoji", "📎"],
    ["a NUL", "a\0b"],
  ])("is a 404 with its id as the client wrote it, and nothing is stored (contract 3.4, 3.7): %s", async (_, id) => {
    const fixture = await freshFile();
    const before = await stateOf(fixture);
    const path = `${fixture.files}/${encodeURIComponent(id)}`;
    for (const [method, one] of [["DELETE", path] as const, ["PUT", `${path}/content`] as const]) {
      const { body } = await fixture.call(method, one, method === "PUT" ? { body: pattern(1) } : {});
      expect(body).toEqual({ status: 404, message: `file ${id} not found` });
    }
    expect(await stateOf(fixture)).toEqual(before);
  });

  it("is named with at most 64 characters of the id", async () => {
    const { call, files } = await newItem();
    expect((await call("DELETE", `${files}/${"x".repeat(500)}`)).body.message).toBe(`file ${"x".repeat(64)} not found`);
  });
});

describe("a deleted File", () => {
  it("is answered 204 with an empty body; then no path and no list has it", async () => {
    const { writes, call, one, files, path, file } = await freshFile();
    const { status, text } = await writes.DELETE();
    expect([status, text]).toEqual([204, ""]);
    const notFound = { status: 404, message: `file ${file.id} not found` };
    for (const [method, of] of [["GET", one] as const, ["GET", `${one}/content`] as const, ["DELETE", one] as const])
      expect((await call(method, of)).body).toEqual(notFound);
    expect((await call("PUT", `${one}/content`, { body: pattern(1) })).body).toEqual(notFound);
    expect([(await call("GET", files)).body, (await call("GET", path)).body.files]).toEqual([[], []]);
  });

  it("is named by its id in either form and in any case", async () => {
    const short = await freshFile(pattern(1), "connect");
    const { body: files } = await short.call("GET", short.files);
    expect(files[0].id).toMatch(/^[a-z2-7]{26}$/);
    const canonical = (await stateOf(short)).rows[0]!["id"] as string;
    expect((await short.call("DELETE", `${short.files}/${canonical.toUpperCase()}`)).status).toBe(204);
  });
});
