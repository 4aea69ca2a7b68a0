import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { bytesOf, freshItem, itemIn, lengthOf, objectsOf, pattern, stateOf } from "../support/files.ts";
import { client, LOGIN, makeToken, shareVault } from "../support/service.ts";

/** The effects of an upload: on the File, its section, the Item and the activity log (contract 2.18, 9.2, 9.4, 9.7). */

const sharedVault = shareVault();
/** A new Item in the vault that the tests share. */
const newItem = async () => itemIn(await sharedVault());

describe("an upload", () => {
  it("changes version, updatedAt and lastEditedBy of the Item and the vault's contentVersion, and nothing else", async () => {
    const fixture = await freshItem();
    const before = await stateOf(fixture);
    const writer = await makeToken({ [fixture.vault]: "w" });
    const bytes = pattern(10);
    const reply = await client(writer.token)("POST", `${fixture.files}?name=f`, { headers: lengthOf(bytes), body: bytes });
    const after = await stateOf(fixture);
    expect(reply.status).toBe(200);
    expect(after.item).toEqual({
      ...before.item,
      version: before.item.version + 1,
      updatedAt: expect.any(String),
      lastEditedBy: writer.id,
      files: [reply.body],
    });
    expect(Date.parse(after.item.updatedAt)).toBeGreaterThanOrEqual(Date.parse(before.item.updatedAt));
    expect(after.contentVersion).toBe(before.contentVersion + 1);
  });

  it("has an entry in the activity log", async () => {
    const { vault, item, upload } = await freshItem();
    await upload(pattern(10));
    const { results } = await env.DB.prepare("SELECT action, item_id, version FROM activity WHERE vault_id = ?1 ORDER BY id DESC")
      .bind(vault)
      .all();
    expect(results[0]).toEqual({ action: "UPDATE", item_id: item, version: 2 });
  });

  it("stores one object in R2, whose key consists of ids", async () => {
    const { vault, upload } = await freshItem();
    const { body } = await upload(pattern(10), "?name=secret-plans.txt");
    expect(await objectsOf(vault)).toEqual([expect.stringMatching(new RegExp(`^${vault}/${body.id}/[0-9a-f-]{36}$`))]);
  });

  it("without a body creates an empty File", async () => {
    const { call, files, download } = await newItem();
    const { status, body } = await call("POST", `${files}?name=empty`);
    expect([status, body.size]).toEqual([200, 0]);
    expect((await bytesOf(await download(body.id))).length).toBe(0);
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
});

describe("the section of an upload", () => {
  it("may be declared by the Item", async () => {
    const { call, items, vault } = await freshItem();
    const sections = [{ id: "scans", label: "Scans" }];
    const item = (await call("POST", items, { body: { ...LOGIN, sections } })).body;
    const path = `/v1/vaults/${vault}/items/${item.id}`;
    expect((await call("POST", `${path}/files?name=f&section=scans`)).body.section).toEqual({ id: "scans" });
    expect((await call("GET", path)).body.sections).toEqual(sections);
  });

  it("is added to the Item once when it is not declared", async () => {
    const { upload, call, path } = await newItem();
    for (const name of ["f", "g"]) {
      expect((await upload(pattern(1), `?name=${name}&section=New%20%F0%9F%93%8E`)).body.section).toEqual({ id: "New 📎" });
    }
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
    const { status, body } = await call("POST", items, { body: { ...LOGIN, sections } });
    expect(status).toBe(200);
    const path = `${items}/${body.id}`;
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
    for (const letter of "abcdefghi") {
      statuses.push((await fixture.upload(pattern(1), `?name=f&section=${letter.repeat(255)}`)).status);
    }
    const accepted = statuses.filter((status) => status === 200).length;
    const { rows, objects, item } = await stateOf(fixture);
    expect(statuses.at(-1)).toBe(400);
    expect([accepted > 0, rows.length, objects.length, item.version]).toEqual([true, accepted, accepted, 2 + accepted]);
  });
});
