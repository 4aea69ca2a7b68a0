import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it } from "vitest";
import { REGISTRY } from "../../src/model/backup.ts";
import { firstIdAt } from "../../src/model/ids.ts";
import { DAY } from "../../src/model/time.ts";
import { PART_MAX } from "../../src/store/backup/cut.ts";
import { partKey } from "../../src/store/backup/object-keys.ts";
import { backedUpIn } from "../../src/store/tables/tables.ts";
import { afterSlices, backUp, backUpAll, newestOf, rowsInDatabase, rowsOfParts } from "../support/backup.ts";
import { seeded } from "../support/bindings.ts";
import { fullVault } from "../support/full-vault.ts";
import { freshFile, objectsOf, pattern } from "../support/files.ts";
import { restore } from "../support/restores.ts";
import { login, seedItems } from "../support/seed.ts";
import { admin } from "../support/service.ts";

/** Backups of which each stage takes several steps, because their parts are small, beside writes of every kind (contract 21.1, 21.3, 21.6). */

const CHARACTERS = PART_MAX.characters;
afterEach(() => void (PART_MAX.characters = CHARACTERS));

/** A vault with rows of every kind, Items of chosen ids with Files, and one with several. Also returns random writes of every kind. */
async function writtenVault(seed: number) {
  const random = seeded(seed);
  const full = await fullVault();
  const { vault, items, call, kept, make, upload } = full;
  const ids = Array.from(
    { length: 14 },
    () =>
      `${Math.floor(random() * 2 ** 32)
        .toString(16)
        .padStart(8, "0")}-0000-4000-8000-0000000000aa`,
  );
  await seedItems(
    env,
    vault,
    ids.map((id) => login(vault, id, { id })),
  );
  const live = [kept, ...ids];
  for (let n = 0; n < 12; n++) await upload("POST", `${items}/${n < 8 ? ids[0] : ids[n - 4]}/files?name=${n}`, 60);
  const pick = (): string => live[Math.floor(random() * live.length)]!;
  const writes: readonly (() => Promise<{ readonly status: number }>)[] = [
    async () => call("PATCH", `${items}/${pick()}`, { body: [{ op: "replace", path: "/title", value: `${random()}` }] }),
    async () => (live.push(await make(`${random()}`)), call("GET", items)),
    // The first Items are read, and written as parts, before the others.
    async () => {
      const [first] = live.toSorted();
      await call("DELETE", `${items}/${live.splice(live.indexOf(first!), 1)[0]}`);
      return call("DELETE", `/v1/vaults/${vault}/deleted-items/${first}`);
    },
    async () => call("DELETE", `${items}/${live.splice(Math.floor(random() * live.length), 1)[0]}`),
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

const rowOf = (vault: string) =>
  env.DB.prepare("SELECT * FROM vaults WHERE id = ?").bind(vault).first<Record<string, string | number | null>>();

/** The state of a vault but for its log, which a restore only adds to. */
async function stateOf(vault: string) {
  const { activity, log_segments: _, ...rows } = await rowsInDatabase(vault);
  return { rows, row: await rowOf(vault), writes: activity!.filter(({ sequence }) => sequence !== null) };
}

describe("a snapshot whose stages take several steps each", () => {
  it.each([
    [1, 1],
    [2, 800],
  ])("is that of one moment beside writes of every kind, and a restore gives that moment: seed %i", async (seed, characters) => {
    const { vault, write } = await writtenVault(seed);
    PART_MAX.characters = characters;
    const states = new Map<string, Awaited<ReturnType<typeof stateOf>>>();
    let slices = 0;
    const bindings = afterSlices(async (slice) => {
      slices = slice;
      if (slice > 12) return;
      const state = await stateOf(vault);
      states.set(JSON.stringify(state.row), state);
      await write();
    });
    expect(await backUp(vault, { env: bindings })).toMatchObject({ state: "done", findings: [] });
    expect(slices).toBeGreaterThan(2);
    const { manifest, parts } = await newestOf(vault);
    const expected = states.get(JSON.stringify(manifest.row)) ?? (await stateOf(vault));
    const { activity, log_segments: _, ...rows } = rowsOfParts(parts);
    expect({ rows, row: manifest.row, writes: activity!.filter(({ sequence }) => sequence !== null) }).toEqual(expected);
    await env.FILES.delete(await objectsOf(vault));
    expect(await restore({ vault, overwrite: true })).toMatchObject({ status: 200, body: { state: "done", findings: [] } });
    expect(await stateOf(vault)).toEqual(expected);
    const contents = [...expected.rows["files"]!, ...expected.rows["file_versions"]!];
    expect(new Set(await objectsOf(vault))).toEqual(
      new Set(contents.map(({ id, generation }) => `${vault}/${id}/${generation}`)),
    );
  });
});

describe("a snapshot of many parts", () => {
  it("is found to be damaged in whichever part before anything of the vault changes (21.24)", async () => {
    const { vault, call, items, kept } = await fullVault();
    PART_MAX.characters = 1;
    await backUp(vault);
    await call("DELETE", `${items}/${kept}`);
    const before = await stateOf(vault);
    const { manifest } = await newestOf(vault);
    expect(manifest.parts.length).toBeGreaterThan(10);
    for (const { sha256 } of manifest.parts) {
      const key = partKey(vault, sha256);
      const part = await (await env.BACKUPS.get(key))!.bytes();
      await env.BACKUPS.put(key, part.with(part.length - 2, part.at(-2)! ^ 1));
      const { status, body } = await restore({ vault, overwrite: true });
      expect([status, body.reason, body.message]).toEqual([422, "backup_damaged", expect.stringContaining(sha256)]);
      expect(await stateOf(vault)).toEqual(before);
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
    const [gone, day] = [crypto.randomUUID(), (days: number) => firstIdAt(Date.now() - days * DAY).slice(0, 24)];
    const entries = [
      ...Array.from({ length: 1_100 }, (_, n) => [gone, `${day(1)}${String(n).padStart(12, "0")}`]),
      ...Array.from({ length: 60 }, (_, n) => [n % 2 === 0 ? gone : crypto.randomUUID(), `${day(n + 2)}${"0".repeat(12)}`]),
    ];
    const columns = "vault_id, id, action, result, actor, root_key_id, sealed";
    const values = "value ->> 0, value ->> 1, 'READ', 'SUCCESS', 'x', 'k1', 'x'";
    const sql = [`INSERT INTO activity (${columns}) SELECT ${values} FROM json_each(?1)`];
    await env.DB.batch(sql.map((one) => env.DB.prepare(one).bind(JSON.stringify(entries))));
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
