import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { firstIdAt } from "../../src/model/ids.ts";
import { DAY } from "../../src/model/time.ts";
import { afterSlices, backUp, newestOf, rowsInDatabase, rowsOfParts, type VaultRows } from "../support/backup.ts";
import { freshFile } from "../support/files.ts";
import { freshVault } from "../support/service.ts";

/** Snapshots of which a stage takes several steps, or a pass of changes several slices, while the vault is written to (contract 21.1, 21.3). */

/** Compared as texts, because the difference of large objects takes minutes to print. */
function expectEqual(rows: VaultRows, expected: VaultRows): void {
  for (const table of Object.keys(expected))
    expect([table, JSON.stringify(rows[table]) === JSON.stringify(expected[table])]).toEqual([table, true]);
}

/** The id of an entry of the log of a number of days ago. */
const idBefore = (days: number, n: number): string =>
  `${firstIdAt(Date.now() - days * DAY).slice(0, 24)}${String(n).padStart(12, "0")}`;

describe("a log that takes several steps", () => {
  it("is backed up whole, up to the last write before the moment of the snapshot", async () => {
    const { vault, call, path } = await freshFile();
    const days = 60; // each is a part, and a step writes about 20
    const entries = Array.from({ length: days }, (_, day) => [idBefore(day + 1, 1), idBefore(day + 1, 2)]);
    const columns = "id, action, result, actor, root_key_id, sealed";
    const values = "value ->> 0, 'READ', 'SUCCESS', 'x', 'k1', 'x'";
    await env.DB.batch(
      [`INSERT INTO activity (vault_id, ${columns}) SELECT ?1, ${values} FROM json_each(?2)`].map((sql) =>
        env.DB.prepare(sql).bind(vault, JSON.stringify(entries)),
      ),
    );
    const states = new Map<number, VaultRows>();
    const write = async (slice: number) => {
      const row = env.DB.prepare("SELECT content_version AS n FROM vaults WHERE id = ?").bind(vault);
      states.set((await row.first<number>("n"))!, await rowsInDatabase(vault));
      await call("PATCH", path, { body: [{ op: "replace", path: "/title", value: `${slice}` }] });
    };
    const bindings = afterSlices(async (slice) => {
      if (slice > 1) await write(slice);
    });
    expect(await backUp(vault, { env: bindings })).toMatchObject({ state: "done" });
    expect(states.size).toBeGreaterThan(2);
    const { manifest, parts } = await newestOf(vault);
    expect(manifest.parts.length).toBeGreaterThan(days);
    expectEqual(rowsOfParts(parts), states.get(Number(manifest.row!["content_version"]))!);
  });
});

/** More Items than a slice of changes has (`CHANGES_MAX.rows`). */
const MANY = 2_050;

const idOf = (n: number): string => `${n.toString(16).padStart(8, "0")}-0000-4000-8000-000000000000`;

/** The statements of a write to each of some Items, in this order. */
const writesTo = (vault: string, items: readonly string[]): D1PreparedStatement[] =>
  [
    `INSERT INTO activity (vault_id, id, action, result, actor, item_id, version, root_key_id, sealed, sequence, at)
     SELECT ?1, substr(?3, 1, 24) || printf('%012x', content_version + key), 'UPDATE', 'SUCCESS', 'x', value, items.version + 1, 'k1', 'x',
       content_version + attribute_version + 1 + key, updated_at
     FROM json_each(?2) JOIN vaults ON vaults.id = ?1 JOIN items ON vault_id = ?1 AND items.id = value WHERE true`,
    `INSERT INTO item_versions (vault_id, item_id, version, overview, details)
     SELECT vault_id, id, version, overview, details FROM items WHERE vault_id = ?1 AND id IN (SELECT value FROM json_each(?2)) AND ?3 > ''`,
    "UPDATE items SET version = version + 1 WHERE vault_id = ?1 AND id IN (SELECT value FROM json_each(?2)) AND ?3 > ''",
    "UPDATE vaults SET content_version = content_version + json_array_length(?2) WHERE id = ?1 AND ?3 > ''",
  ].map((sql) => env.DB.prepare(sql).bind(vault, JSON.stringify(items), firstIdAt(Date.now())));

const destroy = (vault: string, item: string): D1PreparedStatement[] =>
  ["DELETE FROM items WHERE vault_id = ?1 AND id = ?2", "DELETE FROM item_versions WHERE vault_id = ?1 AND item_id = ?2"].map(
    (sql) => env.DB.prepare(sql).bind(vault, item),
  );

describe("a pass of changes that takes several slices", () => {
  it("has its last write, and those to Items that were read before and were not read yet", async () => {
    const { vault } = await freshVault();
    await env.DB.prepare(
      `INSERT INTO items (vault_id, id, version, title_index, overview, details, folded_index)
       WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ?2)
       SELECT ?1, printf('%08x-0000-4000-8000-000000000000', n), 1, 'x', 'x', 'x', 'x' FROM n`,
    )
      .bind(vault, MANY)
      .run();
    const all = Array.from({ length: MANY }, (_, n) => idOf(n + 1));
    const last = all.at(-1)!;
    const writes: Readonly<Record<number, readonly D1PreparedStatement[]>> = {
      // The vault has two slices of Items. Then the first pass reads two slices, and the second one what was written between these.
      2: writesTo(vault, all),
      3: [...writesTo(vault, [all[0]!, all[9]!, last]), ...destroy(vault, all[9]!)],
      4: writesTo(vault, [all[1]!, last]),
    };
    let slices = 0;
    const bindings = afterSlices(async (slice) => {
      slices = slice;
      if (writes[slice]) await env.DB.batch([...writes[slice]]);
    });
    expect(await backUp(vault, { env: bindings })).toMatchObject({ state: "done" });
    expect(slices).toBeGreaterThan(5);
    expectEqual(rowsOfParts((await newestOf(vault)).parts), await rowsInDatabase(vault));
  });
});
