import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { openKeyring } from "../../src/crypto/keyring.ts";
import { unwrapVaultKeys } from "../../src/crypto/vault-keys.ts";
import { cleanUp } from "../../src/scheduled.ts";
import { BY_FOLDED_TITLE, FOLDED, foldedIndex } from "../../src/store/items/folded-index.ts";
import { sealItem } from "../../src/store/items/items.ts";
import { type VaultRow, wrappedKeys } from "../../src/store/vaults/rows.ts";
import { countingDatabase, rebindCoordinator } from "../support/bindings.ts";
import { login, seedItems } from "../support/seed.ts";
import { client, freshVault, LOGIN } from "../support/service.ts";

/** `items.folded_index` and `vaults.fold`: the index of folded titles, and how it is completed (decision 0021). */

async function keysOf(vault: string) {
  const keyring = await openKeyring(env.ROOT_KEYS);
  const row = (await env.DB.prepare("SELECT * FROM vaults WHERE id = ?").bind(vault).first<VaultRow>())!;
  if (!keyring.ok) throw new Error("no keyring");
  const keys = await unwrapVaultKeys(keyring.value, vault, wrappedKeys(row), Date.now());
  if (!keys.ok) throw new Error("no keys");
  return keys.value;
}

/** The ids of the Items that the index finds under a name. */
async function found(vault: string, name: string): Promise<string[]> {
  const { results } = await env.DB.prepare(`SELECT id FROM ${BY_FOLDED_TITLE} WHERE vault_id = ?1 AND ${FOLDED} = ?2`)
    .bind(vault, await foldedIndex((await keysOf(vault)).newest, name))
    .all<{ id: string }>();
  return results.map(({ id }) => id);
}

/** How many Items are not in the index. */
const unindexed = (vault: string) =>
  env.DB.prepare(`SELECT count(*) AS n FROM ${BY_FOLDED_TITLE} WHERE vault_id = ?1 AND ${FOLDED} IS NULL`)
    .bind(vault)
    .first<number>("n");

const foldOf = (vault: string) => env.DB.prepare("SELECT fold FROM vaults WHERE id = ?").bind(vault).first<number>("fold");

/** Makes a vault like one that a release before the index has written. */
const forget = (vault: string) =>
  env.DB.batch([
    env.DB.prepare("UPDATE items SET folded_index = NULL WHERE vault_id = ?").bind(vault),
    env.DB.prepare("UPDATE vaults SET fold = 0 WHERE id = ?").bind(vault),
  ]);

/** What release 0.2.0 does when it changes a title: it knows no folded index. */
async function renameAs020(vault: string, id: string, title: string, version: number): Promise<void> {
  const sealed = await sealItem(await keysOf(vault), login(vault, title, { id, version }));
  await env.DB.prepare(
    "UPDATE items SET version = ?3, overview = ?4, details = ?5, title_index = ?6 WHERE vault_id = ?1 AND id = ?2",
  )
    .bind(vault, id, version, sealed.overview, sealed.details, sealed.title_index)
    .run();
}

const metric = async () => Number(/_unindexed (\d+)/.exec((await client(env.METRICS_TOKEN)("GET", "/metrics")).text)![1]);

const title = (value: string) => [{ op: "replace", path: "/title", value }];

describe("a write", () => {
  it("puts a new Item into the index of folded titles, and moves it when its title changes", async () => {
    const { vault, items, call } = await freshVault();
    const { body } = await call("POST", items, { body: { ...LOGIN, title: "ΟΔΟΣ" } });
    expect([await found(vault, "οδος"), await unindexed(vault), await foldOf(vault)]).toEqual([[body.id], 0, 1]);
    await call("PATCH", `${items}/${body.id}`, { body: title("Straße") });
    expect([await found(vault, "οδος"), await found(vault, "STRASSE")]).toEqual([[], [body.id]]);
    await call("PATCH", `${items}/${body.id}`, { body: title("STRASSE") });
    expect([await found(vault, "strasse"), await unindexed(vault)]).toEqual([[body.id], 0]);
  });

  it("that keeps the title writes no row of the index, also when the title is not in the index", async () => {
    const { vault, items, call } = await freshVault();
    const { body } = await call("POST", items, { body: LOGIN });
    const { count, db } = countingDatabase();
    await rebindCoordinator(vault, { DB: db });
    for (const prepare of [() => undefined, () => forget(vault)]) {
      await prepare();
      count.rowsWritten = 0;
      await call("PATCH", `${items}/${body.id}`, { body: [{ op: "replace", path: "/favorite", value: true }] });
      expect(count.rowsWritten).toBe(5);
    }
  });

  it("stores no folded title that equals the blind index of any text", async () => {
    const { vault, items, call } = await freshVault();
    await call("POST", items, { body: { ...LOGIN, title: "login" } });
    const row = await env.DB.prepare("SELECT title_index, folded_index FROM items WHERE vault_id = ?").bind(vault).first<any>();
    expect(row.folded_index.slice(24)).toBe(row.title_index);
    expect(row.folded_index.slice(0, 24)).not.toBe(row.title_index);
  });
});

describe("a release that does not know the index", () => {
  it("leaves an Item that it renames out of the index, not under its earlier title", async () => {
    const { vault, items, call } = await freshVault();
    const { body } = await call("POST", items, { body: { ...LOGIN, title: "Before" } });
    await renameAs020(vault, body.id, "After", 2);
    expect([await found(vault, "before"), await unindexed(vault)]).toEqual([[], 1]);
    await cleanUp(env, Date.now());
    expect([await found(vault, "after"), await unindexed(vault)]).toEqual([[body.id], 0]);
  });

  it("leaves an Item that it creates out of the index, and the next run adds it", async () => {
    const { vault, items, call } = await freshVault();
    const { body } = await call("POST", items, { body: LOGIN });
    await env.DB.prepare("UPDATE items SET folded_index = NULL WHERE vault_id = ?").bind(vault).run();
    expect(await foldOf(vault)).toBe(1);
    await cleanUp(env, Date.now());
    expect(await found(vault, "LOGIN")).toEqual([body.id]);
  });
});

describe("the hourly clean-up", () => {
  it("indexes the titles of a vault of 1,200 Items in slices of 500, with two D1 calls and about 8 rows read and 2 written for each Item", async () => {
    const { vault } = await freshVault();
    await seedItems(
      env,
      vault,
      Array.from({ length: 1_200 }, (_, index) => login(vault, `Item ${index}`)),
    );
    await forget(vault);
    const before = await metric();
    const { count, db } = countingDatabase();
    await rebindCoordinator(vault, { DB: db });
    await cleanUp(env, Date.now());
    expect([await unindexed(vault), await foldOf(vault), await metric()]).toEqual([0, 1, before - 1]);
    expect(await found(vault, "ITEM 77")).toHaveLength(1);
    console.log(`1,200 titles: ${JSON.stringify(count)}`);
    expect(count.calls).toBe(6);
    expect(count.rowsRead).toBeLessThan(1_200 * 9);
    expect(count.rowsWritten).toBeLessThanOrEqual(1_200 * 2 + 1);
  });

  it("continues where a run has stopped", async () => {
    const { vault } = await freshVault();
    await seedItems(
      env,
      vault,
      Array.from({ length: 600 }, (_, index) => login(vault, `Item ${index}`)),
    );
    await forget(vault);
    const left = await env.COORDINATOR.getByName(vault).foldTitles(vault);
    expect([left, await unindexed(vault), await foldOf(vault)]).toEqual([{ ok: true, value: true }, 100, 0]);
    await cleanUp(env, Date.now());
    expect([await unindexed(vault), await foldOf(vault)]).toEqual([0, 1]);
  });

  it("writes nothing when all titles are in the index", async () => {
    const { vault, items, call } = await freshVault();
    await call("POST", items, { body: LOGIN });
    const { count, db } = countingDatabase();
    await rebindCoordinator(vault, { DB: db });
    await env.COORDINATOR.getByName(vault).foldTitles(vault);
    expect(count.rowsWritten).toBe(0);
  });

  it("marks an Item that does not open, and finishes the vault", async () => {
    const { vault, items, call } = await freshVault();
    await call("POST", items, { body: LOGIN });
    await forget(vault);
    await env.DB.prepare("UPDATE items SET overview = substr(overview, 9) || '=' WHERE vault_id = ?").bind(vault).run();
    await cleanUp(env, Date.now());
    expect([await found(vault, LOGIN.title), await unindexed(vault), await foldOf(vault)]).toEqual([[], 0, 1]);
  });

  it("keeps the titles that are written while a slice is indexed", async () => {
    const { vault, items, call } = await freshVault();
    const created = await Promise.all(
      Array.from({ length: 40 }, (_, index) => call("POST", items, { body: { ...LOGIN, title: `Old ${index}` } })),
    );
    await forget(vault);
    await Promise.all([
      ...created.map(({ body }, index) => call("PATCH", `${items}/${body.id}`, { body: title(`New ${index}`) })),
      env.COORDINATOR.getByName(vault).foldTitles(vault),
      env.COORDINATOR.getByName(vault).foldTitles(vault),
    ]);
    await env.COORDINATOR.getByName(vault).foldTitles(vault);
    const titles = await Promise.all(created.map((_, index) => found(vault, `new ${index}`)));
    expect(titles).toEqual(created.map(({ body }) => [body.id]));
    expect([await found(vault, "old 1"), await unindexed(vault)]).toEqual([[], 0]);
  });

  it("finishes many small vaults in one run", async () => {
    const vaults = await Promise.all(Array.from({ length: 12 }, async () => (await freshVault()).vault));
    for (const vault of vaults) await forget(vault);
    await cleanUp(env, Date.now());
    expect(await Promise.all(vaults.map(foldOf))).toEqual(vaults.map(() => 1));
  });

  it("goes on with the other vaults when one fails, and then shows as failed", async () => {
    const [broken, other] = [await freshVault(), await freshVault()];
    for (const { vault, items, call } of [broken, other]) {
      await call("POST", items, { body: LOGIN });
      await forget(vault);
    }
    await env.DB.prepare("UPDATE vaults SET keys = upper(keys) WHERE id = ?").bind(broken.vault).run();
    await expect(cleanUp(env, Date.now())).rejects.toThrow("could not be indexed");
    expect([await foldOf(broken.vault), await foldOf(other.vault)]).toEqual([0, 1]);
  });
});

const idOf = (index: number) => `${index.toString(16).padStart(8, "0")}-0000-4000-8000-000000000000`;

describe("references to titles that are not in the index", () => {
  it("are all found, also when one of them names hundreds of Items", async () => {
    const { vault, call } = await freshVault();
    const live = Array.from({ length: 450 }, (_, index) => login(vault, "Login", { id: idOf(index) }));
    const archived = Array.from({ length: 5 }, (_, index) =>
      login(vault, "Database", { id: idOf(1_000 + index), state: "ARCHIVED" }),
    );
    const field = { id: "port", label: "port", type: "STRING" as const, purpose: "" as const, value: "5432" };
    const wanted = login(vault, "Database", { id: idOf(0xffff_ffff), fields: [field] });
    await seedItems(env, vault, [...live, ...archived, wanted]);
    await forget(vault);
    const references = [`op://${vault}/login/port`, `op://${vault}/database/port`];
    const { body } = await call("POST", "/v1/resolve", { body: { references } });
    expect(body.values.map(({ status, value }: any) => value ?? status)).toEqual([409, "5432"]);
  });
});
