import { resealBy, resealFully, resealOnce } from "../support/reseals.ts";
import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { parseKeyList } from "../../src/crypto/key-list.ts";
import { headerOf } from "../../src/crypto/seal.ts";
import { RESEAL_STAGES } from "../../src/model/reseal.ts";
import { columnsOfKind, TABLES_OF_VAULT } from "../../src/store/tables/tables.ts";
import { countingDatabase, rebindCoordinator } from "../support/bindings.ts";
import { everythingIn, type FullVault, fullVault } from "../support/full-vault.ts";
import { SEALED_BYTES } from "../support/faults.ts";
import {
  dataKeyOf,
  indexedUnder,
  giveLastKey,
  keysOfVault,
  newestKeyOf,
  openUnder,
  sealedTexts,
} from "../support/sealed-columns.ts";
import { JOBS } from "../support/jobs.ts";
import { login, seedItems, seedVersions } from "../support/seed.ts";
import { admin, freshVault, LOGIN, makeVault } from "../support/service.ts";
import { freshWriter } from "../support/versions.ts";
import { verifyAll } from "../verify/support/verify.ts";

/** New keys for a vault (contract 20.20 to 20.26, decision 0032). */

const rowOf = (vault: string) => env.DB.prepare("SELECT * FROM vaults WHERE id = ?").bind(vault).first<Record<string, any>>();

describe("a vault that got new keys", () => {
  it("shows everything as before, entity tags too, and no sealed column opens under the old key", async () => {
    const full = await fullVault();
    const before = await everythingIn(full);
    const old = await newestKeyOf(full.vault);
    const texts = await sealedTexts(full.vault);
    expect(await openUnder(old, texts)).toEqual(texts.map(({ where }) => where));
    const done = await resealFully(full.vault);
    expect(done).toMatchObject({ done: true, items: 1, of: 1, unreadable: 0, steps: 4 });
    expect(await everythingIn(full)).toEqual(before);
    const after = await sealedTexts(full.vault);
    expect(await openUnder(old, after)).toEqual([]);
    expect(await openUnder(await newestKeyOf(full.vault), after)).toEqual(texts.map(({ where }) => where));
    expect(await indexedUnder(old, full.vault, "Kept")).toBe(0);
  });

  it("has one pair of wrapped keys and the same count of sealed bytes", async () => {
    const { vault } = await fullVault();
    const before = (await rowOf(vault))!;
    await resealFully(vault);
    const after = (await rowOf(vault))!;
    expect(after["sealed_bytes"]).toBe(before["sealed_bytes"]);
    expect(await env.DB.prepare(`SELECT ${SEALED_BYTES} AS n`).bind(vault).first("n")).toBe(after["sealed_bytes"]);
    expect(parseKeyList(before["keys"]).map(({ number }) => number)).toEqual([1]);
    expect(parseKeyList(after["keys"]).map(({ number }) => number)).toEqual([2]);
    expect(after["resealed"]).toBeNull();
  });

  it("has an entry in its log and one more attributeVersion", async () => {
    const { vault, call } = await freshVault();
    const { attributeVersion } = (await call("GET", `/v1/vaults/${vault}`)).body;
    await resealFully(vault);
    expect((await call("GET", `/v1/vaults/${vault}`)).body.attributeVersion).toBe(attributeVersion + 1);
    const entries = await env.DB.prepare(
      "SELECT action, actor, item_id FROM activity WHERE vault_id = ? ORDER BY id DESC LIMIT 1",
    )
      .bind(vault)
      .all();
    expect(entries.results).toEqual([{ action: "UPDATE", actor: "admin", item_id: null }]);
  });
});

describe("a job of reseal", () => {
  it("that is repeated after the end does nothing", async () => {
    const { vault } = await freshVault();
    const dataKey = await dataKeyOf(vault);
    await resealFully(vault);
    const current = await dataKeyOf(vault);
    expect(await resealOnce(vault, dataKey)).toMatchObject({ done: true, steps: 1, rows: 0 });
    expect(await dataKeyOf(vault)).toBe(current);
  });

  it("of other keys goes on with the reseal that is under way, and begins no second one", async () => {
    const full = await fullVault();
    const first = await dataKeyOf(full.vault);
    await halfway(full.vault);
    const second = await dataKeyOf(full.vault);
    expect((await listed(full.vault)).reseal).toMatchObject({ replaces: first });
    expect((await resealOnce(full.vault, crypto.randomUUID())).done).toBe(true);
    expect(await dataKeyOf(full.vault)).toBe(second);
  });

  it.each([
    [404, "vault_not_found", async () => ({ vault: crypto.randomUUID(), dataKey: crypto.randomUUID() })],
    [400, "invalid", async () => ({ vault: await makeVault(), dataKey: "no id" })],
    [400, "invalid", async () => ({ vault: "no id", dataKey: crypto.randomUUID() })],
    [400, "invalid", async () => ({ dataKey: crypto.randomUUID() })],
  ])("is answered %i %s when vault or body is wrong", async (status, kind, bodyOf) => {
    const reply = await admin("POST", JOBS, { body: { kind: "reseal", ...(await bodyOf()) } });
    expect([reply.status, reply.headers.get("Item-Vault-Error")]).toEqual([status, kind]);
  });

  it("shows the keys of the vault in the list of the admin", async () => {
    const { vault } = await freshVault();
    const { dataKey, createdAt } = await listed(vault);
    expect(dataKey).toEqual({ id: await dataKeyOf(vault), createdAt });
    await resealFully(vault);
    const after = await listed(vault);
    expect(after.dataKey.id).toBe(await dataKeyOf(vault));
    expect(after.dataKey.createdAt >= createdAt).toBe(true);
    expect(after).not.toHaveProperty("reseal");
  });
});

const listed = async (vault: string) =>
  (await admin("GET", "/v1/admin/vaults")).body.find(({ id }: { id: string }) => id === vault);

/** Begins a reseal and stops before its first slice is written. */
async function halfway(vault: string): Promise<void> {
  expect(await resealBy(vault, await dataKeyOf(vault), {}, { most: 1 })).toMatchObject({ done: false });
}

describe("while a vault is resealed", () => {
  let full: FullVault;
  let before: Awaited<ReturnType<typeof everythingIn>>;
  beforeAll(async () => {
    full = await fullVault();
    before = await everythingIn(full);
    vi.spyOn(console, "warn").mockReturnValue();
    vi.spyOn(console, "error").mockReturnValue();
    await halfway(full.vault);
  });

  it("every read, filter, reference, version, File, webhook and repeated request is answered as before", async () => {
    expect(await everythingIn(full)).toEqual(before);
    await evictDurableObject(env.COORDINATOR.getByName(full.vault));
    expect(await everythingIn(full)).toEqual(before);
  });

  it("a read costs as many D1 calls as before", async () => {
    const { count, db } = countingDatabase();
    const filter = `?filter=${encodeURIComponent('title eq "Kept"')}`;
    await full.call("GET", full.items + filter); // The isolate keeps the opened keys.
    await full.call("GET", full.items + filter, { env: { DB: db } });
    expect(count.calls).toBe(1);
  });

  it("what is written lies under the new key", async () => {
    const old = (await keysOfVault(full.vault)).all[1]!;
    const { id } = (await full.call("POST", full.items, { body: { ...LOGIN, title: "Written meanwhile" } })).body;
    const texts = (await sealedTexts(full.vault)).filter(({ where }) => where.includes(id));
    expect(texts).toHaveLength(2);
    expect(await openUnder(old, texts)).toEqual([]);
  });
});

it("the stages of a reseal are the tables with texts under the keys of vaults", () => {
  const sealed = TABLES_OF_VAULT.filter((table) => columnsOfKind(table, "sealed").length > 0);
  expect(RESEAL_STAGES.toSorted()).toEqual(sealed.map(({ name }) => name).toSorted());
});

describe("a vault whose position in a reseal", () => {
  const late = { stage: "file_versions", after: [] as unknown[], under: null as unknown, items: 1, rows: 9, unreadable: 0 };
  it.each([
    ["is no JSON", "!"],
    ["is none", "null"],
    ["lacks everything", "{}"],
    ["is of a reseal from another key", JSON.stringify({ ...late, stage: "webhooks", under: [9] })],
    ["is of the last pass", JSON.stringify({ ...late, stage: "webhooks", under: [1] })],
    ["is of the last pass, and has keys that are no list", JSON.stringify({ ...late, under: "1" })],
    ["is that of the last table", JSON.stringify(late)],
    ["is after a key that is too short", JSON.stringify({ ...late, after: ["a"] })],
    ["is after a key that is too long", JSON.stringify({ ...late, stage: "items", after: ["a", "b", "c"] })],
    ["is after a key of other types", JSON.stringify({ ...late, stage: "items", after: [{}] })],
    ["is after a text", JSON.stringify({ ...late, stage: "items", after: "a" })],
    ["is beyond all tables", JSON.stringify({ ...late, stage: "none" })],
  ])("%s has in the end no text under the earlier key, and loses nothing", async (_, position) => {
    const full = await fullVault();
    const before = await everythingIn(full);
    const old = await newestKeyOf(full.vault);
    vi.spyOn(console, "warn").mockReturnValue();
    vi.spyOn(console, "error").mockReturnValue();
    await halfway(full.vault);
    await env.DB.prepare("UPDATE vaults SET resealed = ?2 WHERE id = ?1").bind(full.vault, position).run();
    expect(await resealFully(full.vault)).toMatchObject({ done: true, unreadable: 0 });
    const texts = await sealedTexts(full.vault);
    expect(await openUnder(old, texts)).toEqual([]);
    expect(await openUnder(await newestKeyOf(full.vault), texts)).toHaveLength(texts.length);
    expect(await everythingIn(full)).toEqual(before);
  });
});

describe("a large vault", () => {
  it("is resealed in slices, each of two D1 calls, which write each Item once", async () => {
    const { vault, call } = await freshVault();
    await seedItems(
      env,
      vault,
      Array.from({ length: 600 }, (_, n) => login(vault, `Item ${n}`)),
    );
    const old = await newestKeyOf(vault);
    const { count, db } = countingDatabase();
    await rebindCoordinator(vault, { DB: db });
    const done = await resealFully(vault);
    await rebindCoordinator(vault, {});
    expect(done).toMatchObject({ done: true, items: 600, of: 600, rows: 600 });
    expect(count.calls).toBeLessThanOrEqual(4 + 2 * 4 + 3);
    // Each Item: the sizes, the row, the update; and its title in two indexes.
    expect(count.rowsRead).toBeLessThan(10 * 600);
    expect(count.rowsWritten).toBeLessThan(3 * 600 + 20);
    expect(await openUnder(old, await sealedTexts(vault))).toEqual([]);
    const found = await call("GET", `/v1/vaults/${vault}/items?filter=${encodeURIComponent('title eq "Item 599"')}`);
    expect(found.body).toHaveLength(1);
  });
});

describe("rows of over 1 MiB that are fewer than a slice may have", () => {
  it.each(["items", "item_versions"])(
    "are all sealed again: a slice of %s that ends by its bytes is not the last",
    async (table) => {
      const { vault } = await freshVault();
      const note = { id: "note", label: "note", type: "STRING", purpose: "", value: "x".repeat(400_000) } as const;
      const large = Array.from({ length: 5 }, (_, n) => login(vault, `Large ${n}`, { fields: [note] }));
      const { id } = large[0]!;
      await seedItems(env, vault, table === "items" ? large : [login(vault, "Kept", { id, version: 6 })]);
      const versions = large.map(({ title }, n) => login(vault, title, { id, version: n + 1, fields: [note] }));
      if (table !== "items") await seedVersions(env, vault, versions);
      const old = await newestKeyOf(vault);
      expect(await resealFully(vault)).toMatchObject({ done: true, rows: table === "items" ? 5 : 6, unreadable: 0 });
      expect(await openUnder(old, await sealedTexts(vault))).toEqual([]);
    },
  );
});

describe("a row that does not open", () => {
  it("is counted, stays as it is, and stops nothing", async () => {
    const { vault, items, call } = await freshVault();
    const { id } = (await call("POST", items, { body: LOGIN })).body;
    const other = (await call("POST", items, { body: LOGIN })).body.id;
    await env.DB.prepare("UPDATE items SET details = overview WHERE vault_id = ? AND id = ?").bind(vault, id).run();
    const read = () => env.DB.prepare("SELECT details FROM items WHERE id = ?").bind(id).first("details");
    const damaged = await read();
    expect(await resealFully(vault)).toMatchObject({ done: true, unreadable: 1 });
    expect(await read()).toBe(damaged);
    expect((await call("GET", `${items}/${id}`)).status).toBe(500);
    expect((await call("GET", `${items}/${other}`)).status).toBe(200);
    expect((await call("DELETE", `${items}/${id}`)).status).toBe(204);
  });
});

describe("an Item of which one text does not open", () => {
  it.each([
    ["overview", 500, 200],
    ["details", 200, 500],
  ])(
    "%s: is found by its title as before, so that no client makes it again (11.10, 20.25)",
    async (column, filtered, resolved) => {
      const { vault, items, call } = await freshVault();
      const fields = [{ label: "password", type: "CONCEALED", value: "secret" }];
      await call("POST", items, { body: { ...LOGIN, title: "One", fields } });
      await env.DB.prepare(`UPDATE items SET ${column} = 'damaged' WHERE vault_id = ?`).bind(vault).run();
      const found = async () => {
        const list = await call("GET", `${items}?filter=${encodeURIComponent('title eq "One"')}`);
        const references = [`op://${vault}/One/password`];
        const { status, body } = await call("POST", "/v1/resolve", { body: { references } });
        return [list.status, status, JSON.stringify(body).includes("secret")];
      };
      const before = await found();
      expect(before).toEqual([filtered, 200, resolved === 200]);
      expect(await resealFully(vault)).toMatchObject({ done: true, unreadable: 1 });
      expect(await found()).toEqual(before);
    },
  );
});

describe("a row whose texts are empty", () => {
  it("does not hide the rows after it", async () => {
    const { vault, items, call } = await freshVault();
    const ids: string[] = [];
    for (let n = 0; n < 3; n++) ids.push((await call("POST", items, { body: LOGIN })).body.id);
    const [first, empty, last] = ids.toSorted() as [string, string, string];
    await env.DB.prepare("UPDATE items SET overview = '', details = '' WHERE vault_id = ? AND id = ?").bind(vault, empty).run();
    expect(await resealFully(vault)).toMatchObject({ done: true, items: 3, unreadable: 1 });
    for (const id of [first, last]) expect((await call("GET", `${items}/${id}`)).status).toBe(200);
  });
});

describe("several operations of one group", () => {
  it("are written under the new keys when one of them replaces the keys", async () => {
    const { vault, items, call, apply } = await freshWriter();
    const { id } = (await call("POST", items, { body: LOGIN })).body;
    const old = await newestKeyOf(vault);
    const dataKeyId = await dataKeyOf(vault);
    const input = { ...LOGIN, category: "LOGIN", fields: [], sections: [], tags: [], urls: [] } as never;
    const answers = await Promise.all([
      apply({ kind: "create-item", item: crypto.randomUUID(), input }),
      apply({ kind: "reseal-vault", dataKeyId }),
      apply({ kind: "delete-item", item: id }),
      apply({ kind: "reseal-vault", dataKeyId }),
    ]);
    expect(answers.map(({ ok }) => ok)).toEqual([true, true, true, true]);
    await resealFully(vault);
    expect(await openUnder(old, await sealedTexts(vault))).toEqual([]);
  });
});

describe("a vault whose newest key has the last number", () => {
  it("gets no further key: the job fails, and nothing changes (20.23)", async () => {
    const vault = await makeVault();
    await giveLastKey(vault);
    const before = await rowOf(vault);
    expect(await resealFully(vault)).toMatchObject({ done: false, reason: "keys_used_up" });
    expect(await rowOf(vault)).toEqual(before);
    expect(await resealOnce(vault, crypto.randomUUID())).toMatchObject({ done: true, rows: 0 });
  });
});

describe("a text whose header names another key", () => {
  it.each([
    ["one of the service", 0],
    ["one that was removed", 1],
    ["one that the vault never had", 3],
    ["the newest one, under which it is not", 2],
  ])("%s is refused as damaged, named by verify, and stops no reseal", async (_, number) => {
    const { vault, items, call } = await freshVault();
    const { id } = (await call("POST", items, { body: LOGIN })).body;
    const early = await env.DB.prepare("SELECT details FROM items WHERE id = ?").bind(id).first<string>("details");
    await resealFully(vault);
    const sql = "UPDATE items SET details = ?2 || substr(?3, 5) WHERE id = ?1";
    await env.DB.prepare(sql).bind(id, headerOf(number), early).run();
    const reply = await call("GET", `${items}/${id}`);
    expect([reply.status, reply.headers.get("Item-Vault-Error")]).toEqual([500, "integrity"]);
    expect((await verifyAll({ vault })).findings).toMatchObject([{ kind: "row_unreadable", item: id }]);
    expect(await resealFully(vault)).toMatchObject({ done: true, unreadable: 1 });
    expect(parseKeyList((await rowOf(vault))!["keys"]).map(({ number: left }) => left)).toEqual([3]);
  });
});
