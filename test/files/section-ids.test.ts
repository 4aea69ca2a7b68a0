import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { freshItem, pattern, stateOf } from "../support/files.ts";
import { login, seedItems } from "../support/seed.ts";
import { seedFiles } from "../support/seed-files.ts";
import { freshVault } from "../support/service.ts";

/** The id of a new section has at most 255 bytes (contract 2.14). Sections from before this limit stay usable. */

const LONG = "s".repeat(256);
const refused = (place: string) => ({ status: 400, message: `${place}: is longer than 255 bytes` });

describe("the section of an upload", () => {
  it.each(["s", "é", "€", "😀"])("has at most 255 bytes of UTF-8, of %s", async (character) => {
    const world = await freshItem();
    const width = new TextEncoder().encode(character).length;
    const most = character.repeat(255 / width) + "a".repeat(255 % width);
    const before = await stateOf(world);
    const over = await world.upload(pattern(1), `?name=f&section=${encodeURIComponent(`${most}a`)}`);
    expect(over.body).toEqual(refused("section"));
    expect(await stateOf(world)).toEqual(before);
    const at = await world.upload(pattern(1), `?name=f&section=${encodeURIComponent(most)}`);
    expect([at.status, at.body.section]).toEqual([200, { id: most }]);
  });
});

/** An Item of an earlier version, with a File in a section of 256 bytes. */
async function earlierItem() {
  const { vault, items, call } = await freshVault();
  const field = { id: "f", section: LONG, type: "STRING", purpose: "", label: "", value: "1" } as const;
  const item = login(vault, "Earlier", { sections: [{ id: LONG, label: "Long" }], fields: [field] });
  await seedItems(env, vault, [item]);
  const [file] = await seedFiles(env, vault, item.id, [{ name: "f", section: LONG }]);
  return { call, items, path: `${items}/${item.id}`, file };
}

describe("an Item that has a longer id already", () => {
  it("is read, and replaced by what was read", async () => {
    const { call, path } = await earlierItem();
    const { body } = await call("GET", path);
    expect(body).toMatchObject({
      sections: [{ id: LONG }],
      fields: [{ section: { id: LONG } }],
      files: [{ section: { id: LONG } }],
    });
    const put = await call("PUT", path, { body });
    expect([put.status, put.body.sections, put.body.fields]).toEqual([200, body.sections, body.fields]);
  });

  it("keeps the section of its File when a PUT leaves the section out", async () => {
    const { call, path } = await earlierItem();
    const { body } = await call("GET", path);
    const put = await call("PUT", path, { body: { ...body, sections: [], fields: [] } });
    expect([put.status, put.body.sections]).toEqual([200, [{ id: LONG, label: "Long" }]]);
  });

  it("takes a PATCH, also of a field in that section", async () => {
    const { call, path } = await earlierItem();
    const add = { op: "add", path: "/fields", value: { id: "g", section: { id: LONG } } };
    const { status, body } = await call("PATCH", path, {
      body: [{ op: "replace", path: `/sections/${LONG}/label`, value: "New" }, add],
    });
    expect([status, body.sections, body.fields.length]).toEqual([200, [{ id: LONG, label: "New" }], 2]);
  });

  it("takes no upload into that section, and no other long id", async () => {
    const { call, path } = await earlierItem();
    expect((await call("POST", `${path}/files?name=g&section=${LONG}`)).body).toEqual(refused("section"));
    const { body } = await call("PATCH", path, { body: [{ op: "add", path: `/sections/${LONG}s`, value: {} }] });
    expect(body).toEqual(refused("sections[1].id"));
  });

  it("is deleted, and so is its File", async () => {
    const { call, path, file } = await earlierItem();
    for (const one of [`${path}/files/${file}`, path]) expect((await call("DELETE", one)).status).toBe(204);
    expect((await call("GET", path)).status).toBe(404);
  });
});
