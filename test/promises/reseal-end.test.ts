import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { parseKeyList } from "../../src/crypto/key-list.ts";
import { headerOf } from "../../src/crypto/seal.ts";
import { rebindCoordinator } from "../support/bindings.ts";
import {
  expectNothingUnder,
  inSlicesOf,
  interrupting,
  resealInSlices,
  resealBy,
  resealFully,
  resealOnce,
} from "../support/reseals.ts";
import { dataKeyOf, keysOfVault, newestKeyOf, openUnder, sealedTexts } from "../support/sealed-columns.ts";
import { login, seedItems } from "../support/seed.ts";
import { admin, freshVault, LOGIN } from "../support/service.ts";

/** The end of a reseal: when the earlier keys go, and that they always do (contract 20.21 to 20.25, decision 0032). */

resealInSlices(10);

/** A vault with so many Items, whose ids are in order. */
async function vaultOf(count: number) {
  const fresh = await freshVault();
  const ids = Array.from({ length: count }, () => crypto.randomUUID()).toSorted();
  await seedItems(
    env,
    fresh.vault,
    ids.map((id, n) => login(fresh.vault, `Item ${n}`, { id })),
  );
  return { ...fresh, ids };
}

const numbersOf = async (vault: string) => (await keysOfVault(vault)).all.map(({ number }) => number);
const positionOf = (vault: string) =>
  env.DB.prepare("SELECT resealed FROM vaults WHERE id = ?").bind(vault).first<string>("resealed");
const moveTo = (vault: string, position: string) =>
  env.DB.prepare("UPDATE vaults SET resealed = ?2 WHERE id = ?1").bind(vault, position).run();
const rename = (vault: string, n: number) => admin("PATCH", `/v1/admin/vaults/${vault}`, { body: { name: `Name ${n}` } });

/** Reseals a vault, with a write after each step. */
async function resealUnderWrites(vault: string, dataKey: string) {
  return resealBy(vault, dataKey, {}, { after: async (step) => expect((await rename(vault, step)).status).toBe(200) });
}

describe("the earlier key of a vault whose position is damaged", () => {
  it("stays until no row is under it, although the position passes over rows", async () => {
    const { vault, items, call, ids } = await vaultOf(60);
    const [old, dataKey] = [await newestKeyOf(vault), await dataKeyOf(vault)];
    expect((await resealOnce(vault, dataKey)).done).toBe(false);
    const position = (await positionOf(vault))!;
    const after = JSON.parse(position).after[0] as string;
    await moveTo(vault, position.replace(after, `f${after.slice(1)}`));
    expect(await resealUnderWrites(vault, dataKey)).toMatchObject({ done: true, unreadable: 0 });
    expect(await numbersOf(vault)).toEqual([2]);
    await expectNothingUnder(old, vault);
    expect((await call("GET", `${items}/${ids[40]}`)).status).toBe(200);
  });
});

describe("a copy of a text under the earlier key, in a commit between the reads of the last pass and its batch", () => {
  it("is under the new key in the end", async () => {
    const { vault, ids } = await vaultOf(30);
    const [old, dataKey] = [await newestKeyOf(vault), await dataKeyOf(vault)];
    const item = await env.DB.prepare("SELECT overview, details FROM items WHERE id = ?").bind(ids[0]).first();
    for (let position = null; position === null || JSON.parse(position).under === null; position = await positionOf(vault))
      expect((await resealOnce(vault, dataKey)).done).toBe(false);
    let copies = 0;
    const copy = () => {
      copies++;
      return env.DB.batch([
        env.DB.prepare("INSERT INTO item_versions (vault_id, item_id, version, overview, details) VALUES (?, ?, 1, ?, ?)").bind(
          vault,
          ids[0],
          item!["overview"],
          item!["details"],
        ),
        env.DB.prepare("UPDATE vaults SET content_version = content_version + 1 WHERE id = ?").bind(vault),
      ]);
    };
    await rebindCoordinator(vault, { DB: interrupting(/UPDATE vaults SET resealed/, copy) });
    expect((await resealOnce(vault, dataKey)).done).toBe(false);
    expect(copies).toBe(1);
    await rebindCoordinator(vault, {});
    expect(await openUnder(old, await sealedTexts(vault))).toHaveLength(2);
    expect(await resealUnderWrites(vault, dataKey)).toMatchObject({ done: true, unreadable: 0 });
    const texts = await sealedTexts(vault);
    expect(await openUnder(await newestKeyOf(vault), texts)).toHaveLength(texts.length);
  });
});

describe("a vault with more records that do not open than a slice has rows, with a write after each slice", () => {
  it.each([
    ["under the earlier key", "UPDATE items SET details = overview WHERE vault_id = ?1 AND id <= ?2"],
    [
      "of a key that the vault never had",
      `UPDATE items SET details = '${headerOf(9)}' || substr(details, 5) WHERE vault_id = ?1 AND id <= ?2`,
    ],
  ])("gets new keys all the same: %s", async (_, damage) => {
    const { vault, ids } = await vaultOf(30);
    const old = await newestKeyOf(vault);
    await env.DB.prepare(damage).bind(vault, ids[22]!).run();
    const done = await resealUnderWrites(vault, await dataKeyOf(vault));
    expect(done).toMatchObject({ done: true, items: 30, unreadable: 23 });
    expect(done.steps).toBeLessThan(15);
    expect(await numbersOf(vault)).toEqual([2]);
    await expectNothingUnder(old, vault, 23);
  });

  it("has no text under the earlier key that opens, although the position passes over rows", async () => {
    const { vault, ids } = await vaultOf(60);
    const [old, dataKey] = [await newestKeyOf(vault), await dataKeyOf(vault)];
    await env.DB.prepare("UPDATE items SET details = overview WHERE vault_id = ?1 AND id <= ?2").bind(vault, ids[29]!).run();
    await resealOnce(vault, dataKey);
    const numbers = (await keysOfVault(vault)).all.slice(1).map(({ number }) => number);
    await moveTo(vault, JSON.stringify({ stage: "webhooks", after: [], under: numbers, items: 60, rows: 60, unreadable: 30 }));
    expect(await resealUnderWrites(vault, dataKey)).toMatchObject({ done: true, unreadable: 30 });
    expect(await openUnder(old, await sealedTexts(vault))).toEqual([]);
  });
});

describe("a vault with more than 500 slices of records under the earlier key that do not open", () => {
  it("fails as integrity, and keeps the key (20.25)", async () => {
    const { vault } = await vaultOf(502);
    const dataKey = await dataKeyOf(vault);
    await env.DB.prepare("UPDATE items SET details = overview WHERE vault_id = ?1").bind(vault).run();
    inSlicesOf();
    for (let position = null; position === null || JSON.parse(position).under === null; position = await positionOf(vault))
      expect((await resealOnce(vault, dataKey)).done).toBe(false);
    inSlicesOf(1);
    expect(await resealOnce(vault, dataKey)).toMatchObject({ done: false, reason: "integrity" });
    expect(await numbersOf(vault)).toEqual([2, 1]);
    inSlicesOf(2);
    expect(await resealUnderWrites(vault, dataKey)).toMatchObject({ done: true, unreadable: 502 });
  });
});

describe("a row of which one text is damaged", () => {
  it.each([
    ["has characters outside of the BMP", "😀".repeat(3)],
    ["has NUL", "A\0"],
  ])("has its other text under the new key, when the damaged one %s", async (_, text) => {
    const { vault, ids } = await vaultOf(3);
    const sql = "UPDATE items SET overview = ?2 || substr(overview, 5) WHERE id = ?1";
    await env.DB.prepare(sql).bind(ids[1]!, text).run();
    const old = await newestKeyOf(vault);
    expect(await resealFully(vault)).toMatchObject({ done: true, unreadable: 1 });
    await expectNothingUnder(old, vault, 1);
  });
});

it("the answer to the next PATCH of a vault that was resealed has no `reseal` (20.20)", async () => {
  const { vault, items, call } = await freshVault();
  await call("POST", items, { body: LOGIN });
  await resealFully(vault);
  const { body } = await rename(vault, 1);
  expect(body).not.toHaveProperty("reseal");
  expect(body.dataKey.id).toBe(await dataKeyOf(vault));
});

describe("a vault whose list of keys is damaged", () => {
  it.each([
    ["characters outside of the BMP", "😀".repeat(20)],
    ["NUL", "01900000\0"],
    ["NUL at its begin", "\0"],
    ["nothing", ""],
  ])("can be deleted when its first characters are %s", async (_, text) => {
    const { vault } = await freshVault();
    await env.DB.prepare("UPDATE vaults SET keys = ?2 || substr(keys, 10) WHERE id = ?1").bind(vault, text).run();
    expect(parseKeyList((await env.DB.prepare("SELECT keys FROM vaults WHERE id = ?").bind(vault).first("keys"))!)).toEqual([]);
    expect((await admin("DELETE", `/v1/admin/vaults/${vault}`)).status).toBe(204);
  });
});
