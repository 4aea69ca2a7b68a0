import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { bytesOf, freshItem, lengthOf, objectsOf, pattern, stateOf } from "../support/files.ts";
import { client, LOGIN, makeToken } from "../support/service.ts";

/** What an upload does (endpoint 12): the File, its section, and what it moves. */

describe("an upload", () => {
  it("is one write to the Item: the next version, a later time, who wrote, and the vault's content version", async () => {
    const world = await freshItem();
    const before = await stateOf(world);
    const writer = await makeToken({ [world.vault]: "w" });
    const bytes = pattern(10);
    const reply = await client(writer.token)("POST", `${world.files}?name=f`, { headers: lengthOf(bytes), body: bytes });
    const after = await stateOf(world);
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

  it("has its row in the activity log", async () => {
    const { vault, item, upload } = await freshItem();
    await upload(pattern(10));
    const { results } = await env.DB.prepare("SELECT action, item_id, version FROM activity WHERE vault_id = ?1 ORDER BY id DESC")
      .bind(vault)
      .all();
    expect(results[0]).toEqual({ action: "UPDATE", item_id: item, version: 2 });
  });

  it("leaves one object in R2, named by ids alone", async () => {
    const { vault, upload } = await freshItem();
    const { body } = await upload(pattern(10), "?name=secret-plans.txt");
    expect(await objectsOf(vault)).toEqual([expect.stringMatching(new RegExp(`^${vault}/${body.id}/[0-9a-f-]{36}$`))]);
  });

  it("without a body is an empty file", async () => {
    const { call, files, download } = await freshItem();
    const { status, body } = await call("POST", `${files}?name=empty`);
    expect([status, body.size]).toEqual([200, 0]);
    expect((await bytesOf(await download(body.id))).length).toBe(0);
  });

  it("of a name that another File has is another File", async () => {
    const { upload, call, files } = await freshItem();
    const [first, second] = [(await upload(pattern(1))).body, (await upload(pattern(2))).body];
    expect(second.id).not.toBe(first.id);
    expect((await call("GET", files)).body.map(({ name }: { name: string }) => name)).toEqual(["f", "f"]);
  });

  it("of ten files at once keeps all ten", async () => {
    const world = await freshItem();
    const replies = await Promise.all(Array.from({ length: 10 }, (_, n) => world.upload(pattern(n), `?name=${n}`)));
    expect(replies.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200));
    const { item, rows, objects } = await stateOf(world);
    expect([item.version, item.files.length, rows.length, objects.length]).toEqual([11, 10, 10, 10]);
  });
});

describe("the section of an upload", () => {
  it("is one of the Item's", async () => {
    const { call, items, vault } = await freshItem();
    const sections = [{ id: "scans", label: "Scans" }];
    const item = (await call("POST", items, { body: { ...LOGIN, sections } })).body;
    const path = `/v1/vaults/${vault}/items/${item.id}`;
    expect((await call("POST", `${path}/files?name=f&section=scans`)).body.section).toEqual({ id: "scans" });
    expect((await call("GET", path)).body.sections).toEqual(sections);
  });

  it("is added to the Item when it is not declared, once", async () => {
    const { upload, call, path } = await freshItem();
    for (const name of ["f", "g"]) {
      expect((await upload(pattern(1), `?name=${name}&section=New%20%F0%9F%93%8E`)).body.section).toEqual({ id: "New 📎" });
    }
    expect((await call("GET", path)).body.sections).toEqual([{ id: "New 📎", label: "" }]);
  });

  it.each(["?name=f", "?name=f&section="])("is absent when none is given: %s", async (query) => {
    const { upload, call, path } = await freshItem();
    expect((await upload(pattern(1), query)).body).not.toHaveProperty("section");
    expect((await call("GET", path)).body.sections).toEqual([]);
  });

  it("is refused when it would be one more than an Item may have", async () => {
    const { call, items, vault } = await freshItem();
    const sections = Array.from({ length: 1_000 }, (_, n) => ({ id: `s${n}` }));
    const { status, body } = await call("POST", items, { body: { ...LOGIN, sections } });
    expect(status).toBe(200);
    const path = `${items}/${body.id}`;
    expect((await call("POST", `${path}/files?name=f&section=one-more`)).status).toBe(400);
    expect(await objectsOf(vault)).toEqual([]);
    expect((await call("GET", path)).body.sections.length).toBe(1_000);
  });

  it("is refused when it would make the Item larger than 512 KiB, and nothing is left", async () => {
    const world = await freshItem();
    const sections = Array.from({ length: 6 }, (_, n) => ({ id: `s${n}`, label: "x".repeat(65_000) }));
    const put = { ...LOGIN, vault: { id: world.vault }, sections };
    expect((await world.call("PUT", world.path, { body: put })).status).toBe(200);
    const statuses: number[] = [];
    for (const letter of "abcdefghi") {
      statuses.push((await world.upload(pattern(1), `?name=f&section=${letter.repeat(255)}`)).status);
    }
    const stored = statuses.filter((status) => status === 200).length;
    const { rows, objects, item } = await stateOf(world);
    expect(statuses.at(-1)).toBe(400);
    expect([stored > 0, rows.length, objects.length, item.version]).toEqual([true, stored, stored, 2 + stored]);
  });
});
