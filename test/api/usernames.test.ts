import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { open, type Place, seal } from "../../src/crypto/seal.ts";
import type { VaultKeys } from "../../src/crypto/vault-keys.ts";
import { openStore } from "../../src/store/d1/database.ts";
import { type KeyRow, openKeys } from "../../src/store/vaults/rows.ts";
import { canary } from "../support/canary.ts";
import { pattern } from "../support/files.ts";
import { type Client, freshVault, LOGIN, type Reply } from "../support/service.ts";

/** User names in the list of Items (contract 11.8). */

const login = (username: string) => ({ ...LOGIN, fields: [{ purpose: "USERNAME", value: username }, { value: "other" }] });

/** The user names in a list, sorted; `-` for an Item without one. */
const usernamesOf = ({ body }: Reply): string[] =>
  body.map(({ username = "-" }: { username?: string }) => username).toSorted((a: string, b: string) => (a < b ? -1 : 1));

/** What a row holds unsealed, by column. */
interface Texts {
  overview: any;
  details: any;
}

/** Seals the row of an Item again after an edit, with the keys of the vault, and counts its bytes again. */
async function editRow(vault: string, item: string, edit: (texts: Texts) => void): Promise<void> {
  const store = await openStore(env, Date.now());
  const vaultRow = await env.DB.prepare("SELECT * FROM vaults WHERE id = ?").bind(vault).first<KeyRow>();
  const opened = store.ok && (await openKeys(store.value, vaultRow!));
  const { newest: key }: VaultKeys = (opened as any).value;
  const row = await env.DB.prepare("SELECT version, overview, details FROM items WHERE id = ?").bind(item).first<any>();
  const placeOf = (kind: keyof Texts): Place => ({ kind, vault, record: item, version: row.version, key: key.id });
  const textOf = async (kind: keyof Texts) => JSON.parse(((await open(key.data, placeOf(kind), row[kind], 1)) as any).value);
  const texts = { overview: await textOf("overview"), details: await textOf("details") };
  edit(texts);
  const sealed = (kind: keyof Texts) => seal(key.data, placeOf(kind), JSON.stringify(texts[kind]), { number: 1 });
  await env.DB.prepare("UPDATE items SET overview = ?2, details = ?3 WHERE id = ?1")
    .bind(item, await sealed("overview"), await sealed("details"))
    .run();
  const stored = "(SELECT sum(length(overview) + length(details)) FROM items WHERE vault_id = ?1)";
  await env.DB.prepare(`UPDATE vaults SET sealed_bytes = ${stored} WHERE id = ?1`).bind(vault).run();
  await evictDurableObject(env.COORDINATOR.getByName(vault)).catch(() => undefined); // it may not run
}

/** Creates an Item as release 0.2.0 stored it. */
async function earlierItem(vault: string, items: string, call: Client, item: object): Promise<string> {
  const { id } = (await call("POST", items, { body: item })).body;
  await editRow(vault, id, ({ overview }) => delete overview.username);
  return id;
}

const bytesOf = (table: string) => `(SELECT sum(length(overview) + length(details)) FROM ${table} WHERE vault_id = ?1)`;

describe("include=username", () => {
  it("adds the value of the USERNAME field to the Items of a list that have one", async () => {
    const { items, call } = await freshVault();
    for (const body of [login("ada"), login(""), LOGIN]) await call("POST", items, { body });
    expect(usernamesOf(await call("GET", `${items}?include=username`))).toEqual(["-", "-", "ada"]);
    const filter = `filter=${encodeURIComponent('title eq "Login" and favorite eq false')}`;
    expect(usernamesOf(await call("GET", `${items}?${filter}&include=username`))).toContain("ada");
  });

  it("gives the user name that the last write left", async () => {
    const { vault, items, call } = await freshVault();
    const path = `${items}/${(await call("POST", items, { body: login("first") })).body.id}`;
    const listed = async () => usernamesOf(await call("GET", `${items}?include=username`));
    await call("PUT", path, { body: { ...login("put"), vault: { id: vault } } });
    expect(await listed()).toEqual(["put"]);
    await call("PATCH", path, { body: [{ op: "replace", path: "/fields/username/value", value: "patched" }] });
    await call("POST", `${path}/files?name=f`, { body: pattern(1) });
    expect(await listed()).toEqual(["patched"]);
    await call("PATCH", path, { body: [{ op: "remove", path: "/fields/username" }] });
    expect(await listed()).toEqual(["-"]);
  });

  it("is repeated in the link to the next page", async () => {
    const { items, call } = await freshVault();
    for (const name of ["a", "b", "c"]) await call("POST", items, { body: login(name) });
    const pages: string[][] = [];
    for (let path: string | undefined = `${items}?include=username&limit=2`; path !== undefined;) {
      const reply: Reply = await call("GET", path);
      pages.push(usernamesOf(reply));
      const link = /<(.+)>/.exec(reply.headers.get("Link") ?? "")?.[1];
      path = link && new URL(link).pathname + new URL(link).search;
    }
    expect(pages.map(({ length }) => length)).toEqual([2, 1]);
    expect(new Set(pages.flat())).toEqual(new Set(["a", "b", "c"]));
  });

  it.each(["", "Username", "username,fields", "fields", "username&include=x"])(
    "with another value is a 400: %j",
    async (value) => {
      const { items, call } = await freshVault();
      const { status, body } = await call("GET", `${items}?include=${value}`);
      expect([status, body.message]).toEqual([400, "include: is not username"]);
    },
  );

  it("is needed for a user name to be in a list, and a full Item has it among its fields only", async () => {
    const { vault, items, call } = await freshVault();
    const name = canary();
    const { body: created } = await call("POST", items, { body: login(name) });
    const path = `${items}/${created.id}`;
    for (const query of ["", "?limit=1", `?filter=${encodeURIComponent('title eq "Login"')}`]) {
      const { status, text } = await call("GET", items + query);
      expect([status, text.includes(name), text.includes("username")]).toEqual([200, false, false]);
    }
    const replies = [
      await call("GET", `${path}?include=username`),
      await call("PATCH", path, { body: [{ op: "add", path: "/tags/-", value: "t" }] }),
      await call("PUT", path, { body: { ...created, vault: { id: vault } } }),
    ];
    for (const { status, body } of replies) {
      expect([status, "username" in body, body.fields[0].value]).toEqual([200, false, name]);
    }
  });
});

describe("an Item that release 0.2.0 stored", () => {
  it("has no user name in lists until it is written", async () => {
    const { vault, items, call } = await freshVault();
    const id = await earlierItem(vault, items, call, login("ada"));
    const listed = async () => usernamesOf(await call("GET", `${items}?include=username`));
    expect(await listed()).toEqual(["-"]);
    await call("PATCH", `${items}/${id}`, { body: [{ op: "add", path: "/tags/-", value: "t" }] });
    expect(await listed()).toEqual(["ada"]);
  });

  it("stays writable when its user name takes it over 512 KiB, as long as the write does not make it larger", async () => {
    const { vault, items, call } = await freshVault();
    const value = "x".repeat(60_000);
    const fields = [{ purpose: "USERNAME", value: "" }, ...Array.from({ length: 6 }, () => ({ value }))];
    const id = await earlierItem(vault, items, call, { ...LOGIN, tags: ["old"], fields });
    await editRow(vault, id, ({ details }) => {
      details.fields[0].value = value;
      details.fields[1].value = "";
    });
    const patch = (tag: string) => call("PATCH", `${items}/${id}`, { body: [{ op: "replace", path: "/tags/0", value: tag }] });
    expect((await patch("x".repeat(100))).body.message).toMatch(/^the Item is larger than/);
    expect((await patch("new")).status).toBe(200);
    const counted = env.DB.prepare(
      `SELECT sealed_bytes = ${bytesOf("items")} + ${bytesOf("item_versions")} AS exact FROM vaults WHERE id = ?1`,
    );
    expect(await counted.bind(vault).first("exact")).toBe(1);
  });
});
