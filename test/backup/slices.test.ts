import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it } from "vitest";
import { REGISTRY } from "../../src/model/backup.ts";
import { firstIdAt } from "../../src/model/ids.ts";
import { DAY } from "../../src/model/time.ts";
import { PART_MAX } from "../../src/store/backup/cut.ts";
import { partKey } from "../../src/store/backup/object-keys.ts";
import { backedUpIn } from "../../src/store/tables/tables.ts";
import {
  afterSlices,
  backUp,
  backUpAll,
  expectSameRows,
  newestOf,
  rowsInDatabase,
  rowsOfParts,
  stateOf,
  type VaultRows,
  writesOf,
} from "../support/backup.ts";
import { seeded } from "../support/bindings.ts";
import { freshFile, objectsOf, pattern } from "../support/files.ts";
import { fullVault } from "../support/full-vault.ts";
import { restore } from "../support/restores.ts";
import { login, seedItems } from "../support/seed.ts";
import { admin, freshVault } from "../support/service.ts";

/** Backups of which a stage takes several steps, or a pass of changes several slices, beside writes (contract 21.1, 21.3, 21.6). */

const CHARACTERS = PART_MAX.characters;
afterEach(() => void (PART_MAX.characters = CHARACTERS));

/** The beginning of an id of a number of days ago. */
const dayBefore = (days: number): string => firstIdAt(Date.now() - days * DAY).slice(0, 24);

const insertEntries = (entries: readonly (readonly [log: string, id: string])[]) =>
  env.DB.prepare(
    `INSERT INTO activity (vault_id, id, action, result, actor, root_key_id, sealed)
     SELECT value ->> 0, value ->> 1, 'READ', 'SUCCESS', 'x', 'k1', 'x' FROM json_each(?1)`,
  )
    .bind(JSON.stringify(entries))
    .run();

describe("a log that takes several steps and slices", () => {
  it("is backed up whole, in a part for each day, up to the last write before the moment of the snapshot", async () => {
    const { vault, call, path } = await freshFile();
    const days = 60; // each is a part, and a step writes about 20
    const many = 2_150; // more than a slice has
    const entries = Array.from({ length: days }, (_, day) =>
      Array.from({ length: day === 0 ? many : 2 }, (_entry, n) => `${dayBefore(day + 1)}${String(n).padStart(12, "0")}`),
    );
    await insertEntries(entries.flat().map((id) => [vault, id]));
    const states = new Map<number, VaultRows>();
    const bindings = afterSlices(async (slice) => {
      if (slice === 1) return;
      const row = env.DB.prepare("SELECT content_version AS n FROM vaults WHERE id = ?").bind(vault);
      states.set((await row.first<number>("n"))!, await rowsInDatabase(vault));
      await call("PATCH", path, { body: [{ op: "replace", path: "/title", value: `${slice}` }] });
    });
    expect(await backUp(vault, { env: bindings })).toMatchObject({ state: "done" });
    expect(states.size).toBeGreaterThan(2);
    const { manifest, parts } = await newestOf(vault);
    expect(parts.filter(({ tables }) => tables.some(({ table }) => table === "activity"))).toHaveLength(days + 1);
    expectSameRows(rowsOfParts(parts), states.get(Number(manifest.row!["content_version"]))!);
  });
});

/** More Items than a slice of changes has (`CHANGES_MAX.rows`). */
const MANY = 2_050;

const idOf = (n: number): string => `${n.toString(16).padStart(8, "0")}-0000-4000-8000-000000000000`;

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

const destroy = (vault: string, items: readonly string[]): D1PreparedStatement[] =>
  Object.entries({ items: "id", item_versions: "item_id" }).map(([table, id]) =>
    env.DB.prepare(`DELETE FROM ${table} WHERE vault_id = ?1 AND ${id} IN (SELECT value FROM json_each(?2))`).bind(
      vault,
      JSON.stringify(items),
    ),
  );

describe("a pass of changes that takes several slices", () => {
  it("has its last write, those to Items that were read and were not read yet, and no Item that was destroyed at either end", async () => {
    const { vault } = await freshVault();
    await env.DB.prepare(
      `INSERT INTO items (vault_id, id, version, title_index, overview, details, folded_index)
       WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ?2)
       SELECT ?1, printf('%08x-0000-4000-8000-000000000000', n), 1, 'x', 'x', 'x', 'x' FROM n`,
    )
      .bind(vault, MANY)
      .run();
    const all = Array.from({ length: MANY }, (_, n) => idOf(n + 1));
    const [first, second, third, last, lastButOne] = [all[0]!, all[1]!, all[9]!, all.at(-1)!, all.at(-2)!];
    const destroyed = [first, third, lastButOne];
    const writes: Readonly<Record<number, readonly D1PreparedStatement[]>> = {
      // The vault has two slices of Items. Then the first pass reads two slices, and the second one what was written between these.
      2: writesTo(vault, all),
      3: [...writesTo(vault, [first, third, last, lastButOne]), ...destroy(vault, destroyed)],
      4: writesTo(vault, [second, last]),
    };
    let slices = 0;
    const bindings = afterSlices(async (slice) => {
      slices = slice;
      if (writes[slice]) await env.DB.batch([...writes[slice]]);
    });
    expect(await backUp(vault, { env: bindings })).toMatchObject({ state: "done" });
    expect(slices).toBeGreaterThan(5);
    const rows = rowsOfParts((await newestOf(vault)).parts);
    expect(rows["items"]!.filter(({ id }) => destroyed.includes(String(id)))).toEqual([]);
    expectSameRows(rows, await rowsInDatabase(vault));
  });
});

/** A vault with rows of every kind, Items of chosen ids with Files, and one with several. Also returns random writes of every kind. */
async function writtenVault(seed: number) {
  const random = seeded(seed);
  const { vault, items, call, kept, make, upload } = await fullVault();
  const drawId = () =>
    `${Math.floor(random() * 2 ** 32)
      .toString(16)
      .padStart(8, "0")}-0000-4000-8000-0000000000aa`;
  const ids = Array.from({ length: 14 }, drawId);
  await seedItems(
    env,
    vault,
    ids.map((id) => login(vault, id, { id })),
  );
  const live = [kept, ...ids];
  for (let n = 0; n < 12; n++) await upload("POST", `${items}/${n < 8 ? ids[0] : ids[n - 4]}/files?name=${n}`, 60);
  const pick = (): string => live[Math.floor(random() * live.length)]!;
  const take = (place: number): string => live.splice(place, 1)[0]!;
  const writes: readonly (() => Promise<{ readonly status: number }>)[] = [
    async () => call("PATCH", `${items}/${pick()}`, { body: [{ op: "replace", path: "/title", value: `${random()}` }] }),
    async () => (live.push(await make(`${random()}`)), call("GET", items)),
    // The first Items are read, and written as parts, before the others.
    async () => {
      const first = take(live.indexOf(live.toSorted()[0]!));
      await call("DELETE", `${items}/${first}`);
      return call("DELETE", `/v1/vaults/${vault}/deleted-items/${first}`);
    },
    async () => call("DELETE", `${items}/${take(Math.floor(random() * live.length))}`),
    async () => upload("POST", `${items}/${pick()}/files?name=new`, 70),
    async () => admin("PATCH", `/v1/admin/vaults/${vault}`, { body: { name: `${random()}` } }),
  ];
  let written = 0;
  /** Two writes: after three calls there was one of each kind. */
  const write = async () => {
    for (const _ of [1, 2]) {
      const { status } = await writes[written++ % writes.length]!();
      expect([written, status < 300]).toEqual([written, true]);
    }
  };
  return { vault, write };
}

const statesOf = async (vault: string) => ({ ...(await stateOf(vault)), writes: writesOf(await rowsInDatabase(vault)) });

describe("a snapshot whose stages take several steps each", () => {
  it.each([
    [1, 1],
    [2, 800],
  ])("is that of one moment beside writes of every kind, and a restore gives that moment: seed %i", async (seed, characters) => {
    const { vault, write } = await writtenVault(seed);
    PART_MAX.characters = characters;
    const states = new Map<string, Awaited<ReturnType<typeof statesOf>>>();
    let slices = 0;
    const bindings = afterSlices(async (slice) => {
      slices = slice;
      if (slice > 12) return;
      const state = await statesOf(vault);
      states.set(JSON.stringify(state.row), state);
      await write();
    });
    expect(await backUp(vault, { env: bindings })).toMatchObject({ state: "done", findings: [] });
    expect(slices).toBeGreaterThan(2);
    const { manifest, parts } = await newestOf(vault);
    const expected = states.get(JSON.stringify(manifest.row)) ?? (await statesOf(vault));
    const { activity: _, log_segments: __, ...rows } = rowsOfParts(parts);
    expect({ rows, row: manifest.row, writes: writesOf(rowsOfParts(parts)) }).toEqual(expected);
    await env.FILES.delete(await objectsOf(vault));
    expect(await restore({ vault, overwrite: true })).toMatchObject({ status: 200, body: { state: "done", findings: [] } });
    expect(await statesOf(vault)).toEqual(expected);
    const contents = [...expected.rows["files"]!, ...expected.rows["file_versions"]!];
    const objects = contents.map(({ id, generation }) => `${vault}/${id}/${generation}`);
    expect(new Set(await objectsOf(vault))).toEqual(new Set(objects));
  });
});

describe("a snapshot of many parts", () => {
  it("is found to be damaged in whichever part before anything of the vault changes (21.24)", async () => {
    const { vault, call, items, kept } = await fullVault();
    PART_MAX.characters = 1;
    await backUp(vault);
    await call("DELETE", `${items}/${kept}`);
    const before = await statesOf(vault);
    const { manifest } = await newestOf(vault);
    expect(manifest.parts.length).toBeGreaterThan(10);
    for (const { sha256 } of manifest.parts) {
      const key = partKey(vault, sha256);
      const part = await (await env.BACKUPS.get(key))!.bytes();
      await env.BACKUPS.put(key, part.with(part.length - 2, part.at(-2)! ^ 1));
      const { status, body } = await restore({ vault, overwrite: true });
      expect([status, body.reason, body.message]).toEqual([422, "backup_damaged", expect.stringContaining(sha256)]);
      expect(await statesOf(vault)).toEqual(before);
      await env.BACKUPS.put(key, part);
    }
    expect(await restore({ vault, overwrite: true })).toMatchObject({ status: 200, body: { findings: [] } });
  });

  it("gives an Item that fills several of them back with all of its Files (21.28)", async () => {
    const { vault, call, path, item, upload, files } = await freshFile();
    for (const name of ["g", "h"]) expect((await upload(pattern(50), `?name=${name}`)).status).toBe(200);
    PART_MAX.characters = 1;
    await backUp(vault);
    const names = async () => (await call("GET", files)).body.map(({ name }: { name: string }) => name).toSorted();
    const before = await names();
    for (const { id } of (await call("GET", files)).body) await call("DELETE", `${files}/${id}`);
    expect([before.length, await names()]).toEqual([3, []]);
    expect(await restore({ vault, item, overwrite: true })).toMatchObject({ status: 200, body: { items: 1, findings: [] } });
    expect(await names()).toEqual(before);
    expect((await call("GET", path)).status).toBe(200);
  });
});

/** Returns the keys of the rows of a table that belong to no vault, each as JSON. */
async function keysInRegistry({ name, key }: ReturnType<typeof backedUpIn>[number]): Promise<string[]> {
  const hasLogs = "log" in (backedUpIn("vault").find((table) => table.name === name)?.owner ?? {});
  const where = hasLogs ? "WHERE vault_id NOT IN (SELECT id FROM vaults)" : "";
  const { results } = await env.DB.prepare(`SELECT ${key.join(", ")} FROM ${name} ${where}`).all();
  return results.map((row) => JSON.stringify(key.map((one) => row[one])));
}

describe("the snapshot of a registry that takes several steps and slices", () => {
  it("has all rows of each of its tables (21.6)", async () => {
    // More rows than a slice in one log, and more logs and days than a step has calls for.
    const gone = crypto.randomUUID();
    await insertEntries([
      ...Array.from({ length: 1_100 }, (_, n) => [gone, `${dayBefore(1)}${String(n).padStart(12, "0")}`] as const),
      ...Array.from(
        { length: 60 },
        (_, n) => [n % 2 === 0 ? gone : crypto.randomUUID(), `${dayBefore(n + 2)}${"0".repeat(12)}`] as const,
      ),
    ]);
    const tables = backedUpIn("registry");
    const before = await Promise.all(tables.map(keysInRegistry));
    expect(await backUpAll()).toMatchObject({ state: "done" });
    const after = await Promise.all(tables.map(keysInRegistry));
    const { parts } = await newestOf(REGISTRY);
    for (const [index, { name, key }] of tables.entries()) {
      const stored = parts.flatMap((part) =>
        part.tables.flatMap(({ table, columns: names, rows }) =>
          table === name ? rows.map((row) => JSON.stringify(key.map((one) => row[names.indexOf(one)]))) : [],
        ),
      );
      expect([name, stored.length]).toEqual([name, new Set(stored).size]);
      // The queue and the job itself may add rows during the backup.
      const throughout = before[index]!.filter((row) => after[index]!.includes(row));
      expect([name, throughout.filter((row) => !stored.includes(row))]).toEqual([name, []]);
      expect([name, stored.filter((row) => !after[index]!.includes(row))]).toEqual([name, []]);
    }
  });
});
