import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { firstIdAt } from "../../src/model/ids.ts";
import { countingDatabase } from "../support/bindings.ts";
import { backUp, newestOf, rowsInDatabase, rowsOfParts } from "../support/backup.ts";
import { login, seedItems } from "../support/seed.ts";
import { freshVault, LOGIN } from "../support/service.ts";

/** Snapshots of vaults with more changes, or more reads, than one slice has (contract 21.2). */

/** More than `SLICE.rows`. */
const MANY = 1_150;

/** A vault with a snapshot, and Items that were inserted at once. */
async function backedUpVault(size: number) {
  const fresh = await freshVault();
  const items = Array.from({ length: size }, (_, index) => login(fresh.vault, `Item ${index}`));
  await seedItems(env, fresh.vault, items);
  const { body } = await fresh.call("POST", fresh.items, { body: LOGIN });
  await backUp(fresh.vault);
  return { ...fresh, seeded: items.map(({ id }) => id), path: `${fresh.items}/${body.id}` };
}

/** Inserts entries of the log that are as new as the snapshot. In: SQL for the columns from `action` to `at`; ?2 is a list. */
const insertEntries = (vault: string, columns: string, list: readonly unknown[]) =>
  env.DB.prepare(
    `INSERT INTO activity (vault_id, id, action, result, actor, item_id, version, root_key_id, sealed, sequence, at)
     SELECT ?1, substr(?3, 1, 24) || printf('%012x', key), ${columns} FROM json_each(?2), vaults WHERE vaults.id = ?1`,
  ).bind(vault, JSON.stringify(list), firstIdAt(Date.now()));

/** Compared as texts, because the difference of large objects takes minutes to print. */
const isEqual = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

describe("a snapshot after more writes than a slice has", () => {
  it("reads them in several slices, and each changed Item once (21.2)", async () => {
    const { vault, seeded } = await backedUpVault(MANY + 50);
    const changed = seeded.slice(0, MANY);
    const ids = JSON.stringify(changed);
    await env.DB.batch([
      insertEntries(
        vault,
        "'UPDATE', 'SUCCESS', 'x', value, 2, 'k1', '', content_version + attribute_version + 1 + key, updated_at",
        changed,
      ),
      env.DB.prepare(
        "UPDATE items SET version = 2 WHERE vault_id = ?1 AND id IN (SELECT value FROM json_each(?2)) AND id <> ?3",
      ).bind(vault, ids, seeded[7]),
      env.DB.prepare("DELETE FROM items WHERE vault_id = ?1 AND id = ?2").bind(vault, seeded[7]),
      env.DB.prepare("UPDATE vaults SET content_version = content_version + ?2 WHERE id = ?1").bind(vault, MANY),
    ]);
    const { count, db } = countingDatabase();
    expect(await backUp(vault, { env: { DB: db } })).toMatchObject({ state: "done", number: 2 });
    expect(count.calls).toBe(4); // the state of the vault, two slices of changes, and nothing since
    const { manifest, parts } = await newestOf(vault);
    expect(manifest.base).toBeLessThan(manifest.parts.length - 1);
    const [rows, there] = [rowsOfParts(parts), await rowsInDatabase(vault)];
    for (const table of ["items", "item_versions", "deleted_items", "files"])
      expect([table, isEqual(rows[table], there[table])]).toEqual([table, true]);
  });
});

describe("a snapshot of a vault that is read often", () => {
  it("ends, although its log has more entries of the last hour than a slice, and has all of them", async () => {
    const { vault, call, path } = await backedUpVault(5);
    const reads = Array.from({ length: MANY }, (_, index) => index);
    await insertEntries(vault, "'READ', 'SUCCESS', 'x', NULL, NULL, 'k1', '', NULL, NULL", reads).run();
    await call("PATCH", path, { body: [{ op: "replace", path: "/title", value: "Other" }] });
    expect(await backUp(vault)).toMatchObject({ state: "done", number: 2 });
    const [rows, there] = [rowsOfParts((await newestOf(vault)).parts), await rowsInDatabase(vault)];
    expect(there["activity"]!.length).toBeGreaterThan(MANY);
    expect(isEqual(rows["activity"], there["activity"])).toBe(true);
  });
});
