import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { firstIdAt } from "../../src/model/ids.ts";
import { wrapDatabase } from "../support/bindings.ts";
import { backUp, newestOf, rowsInDatabase, rowsOfParts } from "../support/backup.ts";
import { login, seedItems } from "../support/seed.ts";
import { freshVault, LOGIN } from "../support/service.ts";

/** Snapshots of vaults with more changes, or more entries of the log, than one slice has (contract 21.3). */

/** More than `CHANGES_MAX.rows`. */
const MANY = 2_150;

/** A vault with Items that were inserted at once, and one that was made by a request. */
async function seededVault(size: number) {
  const fresh = await freshVault();
  const items = Array.from({ length: size }, (_, index) => login(fresh.vault, `Item ${index}`));
  await seedItems(env, fresh.vault, items);
  const { body } = await fresh.call("POST", fresh.items, { body: LOGIN });
  return { ...fresh, seeded: items.map(({ id }) => id), path: `${fresh.items}/${body.id}` };
}

/** Inserts entries of the log of now. In: SQL for the columns from `action` to `at`; ?2 is a list. */
const insertEntries = (vault: string, columns: string, list: readonly unknown[], time = Date.now()) =>
  env.DB.prepare(
    `INSERT INTO activity (vault_id, id, action, result, actor, item_id, version, root_key_id, sealed, sequence, at)
     SELECT ?1, substr(?3, 1, 24) || printf('%012x', key), ${columns} FROM json_each(?2), vaults WHERE vaults.id = ?1`,
  ).bind(vault, JSON.stringify(list), firstIdAt(time));

/** Compared as texts, because the difference of large objects takes minutes to print. */
const isEqual = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

describe("a snapshot during which more Items change than a slice has", () => {
  it("has each of them as it is at the end, and none of those that were destroyed", async () => {
    const { vault, seeded } = await seededVault(MANY + 50);
    // The Items with the first and the last ids, of which the snapshot has and has not read the rows, at both ends of the log.
    const byId = seeded.toSorted();
    const [first, last] = [byId.slice(0, 2), byId.slice(-2)] as [[string, string], [string, string]];
    const changed = [first[0], last[0], ...byId.slice(2, MANY - 2), first[1], last[1]];
    const destroyed = [...first, ...last];
    const change = () =>
      env.DB.batch([
        insertEntries(
          vault,
          "'UPDATE', 'SUCCESS', 'x', value, 2, 'k1', '', content_version + attribute_version + 1 + key, updated_at",
          changed,
        ),
        env.DB.prepare(
          "UPDATE items SET version = 2 WHERE vault_id = ?1 AND id IN (SELECT value FROM json_each(?2)) AND id NOT IN (SELECT value FROM json_each(?3))",
        ).bind(vault, JSON.stringify(changed), JSON.stringify(destroyed)),
        env.DB.prepare("DELETE FROM items WHERE vault_id = ?1 AND id IN (SELECT value FROM json_each(?2))").bind(
          vault,
          JSON.stringify(destroyed),
        ),
        env.DB.prepare("UPDATE vaults SET content_version = content_version + ?2 WHERE id = ?1").bind(vault, MANY),
      ]);
    let calls = 0;
    const DB = wrapDatabase(env.DB, { after: async () => void (++calls === 3 && (await change())) });
    expect(await backUp(vault, { env: { DB } })).toMatchObject({ state: "done", snapshot: 1 });
    expect(calls).toBeGreaterThan(3);
    const [rows, there] = [rowsOfParts((await newestOf(vault)).parts), await rowsInDatabase(vault)];
    expect(there["items"]!.some(({ id }) => destroyed.includes(id as string))).toBe(false);
    for (const table of Object.keys(there)) expect([table, isEqual(rows[table], there[table])]).toEqual([table, true]);
  });
});

describe("a snapshot of a vault with a long log", () => {
  it("has all of its entries, in parts of a day each", async () => {
    const { vault, call, path } = await seededVault(5);
    const reads = Array.from({ length: MANY }, (_, index) => index);
    const columns = "'READ', 'SUCCESS', 'x', NULL, NULL, 'k1', '', NULL, NULL";
    for (const days of [1, 2]) await insertEntries(vault, columns, reads, Date.now() - days * 86_400_000).run();
    await call("PATCH", path, { body: [{ op: "replace", path: "/title", value: "Other" }] });
    expect(await backUp(vault)).toMatchObject({ state: "done" });
    const { parts } = await newestOf(vault);
    const [rows, there] = [rowsOfParts(parts), await rowsInDatabase(vault)];
    expect(there["activity"]!.length).toBeGreaterThan(2 * MANY);
    expect(isEqual(rows["activity"], there["activity"])).toBe(true);
    const days = parts.map(
      ({ tables }) =>
        new Set(
          tables
            .filter(({ table }) => table === "activity")
            .flatMap((one) => one.rows.map(([id]) => String(id).slice(0, 8).slice(0, 8))),
        ),
    );
    expect(days.filter(({ size }) => size > 0)).toHaveLength(3);
  });
});
