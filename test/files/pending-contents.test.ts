import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { KEEP_NOTHING, rebindCoordinator, wrapBucket, wrapDatabase } from "../support/bindings.ts";
import {
  DAY,
  freshContent,
  expectNoOrphans,
  HOUR,
  advanceClock,
  type Place,
  runDueAlarms,
  pendingRecordsOf,
} from "../support/faults.ts";
import { bytesOf, lengthOf, objectsOf, pattern } from "../support/files.ts";
import { alternatingCoordinators } from "../support/concurrent-patches.ts";
import { passDaysQuickly as passDays } from "../support/restore.ts";
import { runs } from "../support/runs.ts";
import { admin } from "../support/service.ts";

/**
 * Pending contents (docs/consistency.md, An upload): the alarm deletes a content that no row references when its record is
 * due, not before. A content that a row references stays, also after faults.
 */

const BYTES = pattern(1000);
const MINUTE = HOUR / 60;

let at: Place;
let file: string;
let key: string;

beforeEach(async () => {
  ({ at, file, key } = await freshContent(BYTES, KEEP_NOTHING));
});

afterEach(() => {
  vi.useRealTimers();
});

const exists = async (one = key) => (await env.FILES.head(one)) !== null;
const failD1 = () => Promise.reject(new Error("D1_ERROR: Network connection lost."));
const failR2 = () => Promise.reject(new Error("We encountered an internal error. Please try again. (10001)"));

const REMOVALS: readonly (readonly [string, () => Promise<unknown>])[] = [
  ["deleted", () => at.call("DELETE", `${at.files}/${file}`)],
  ["replaced", () => at.call("PUT", `${at.files}/${file}/content`, { body: BYTES, headers: lengthOf(BYTES) })],
  ["deleted with its Item", () => at.call("DELETE", at.path)],
  ["deleted with its vault", () => admin("DELETE", `/v1/admin/vaults/${at.vault}`)],
];

describe.each(REMOVALS)("the content of a File that was %s", (_, remove) => {
  it("at once after its upload stays for 31 days and is then deleted", async () => {
    await remove();
    await passDays(at.vault, 30.9);
    expect(await exists()).toBe(true);
    await passDays(at.vault, 0.2);
    expect(await exists()).toBe(false);
  });

  it("days after its upload stays for 31 days and is then deleted", async () => {
    await passDays(at.vault, 5);
    await remove();
    await passDays(at.vault, 30.9);
    expect(await exists()).toBe(true);
    await passDays(at.vault, 0.2);
    expect(await exists()).toBe(false);
  });

  it("stays when a restore of D1 brings back its row, until it is removed again", async () => {
    const tables = ["vaults", "items", "files"];
    const read = (table: string) =>
      env.DB.prepare(`SELECT * FROM ${table} WHERE ${table === "vaults" ? "id" : "vault_id"} = ?`)
        .bind(at.vault)
        .all();
    const saved = await Promise.all(tables.map(async (table) => [table, (await read(table)).results] as const));
    await remove();
    await passDays(at.vault, 10);
    for (const [table, rows] of saved) {
      for (const row of rows) {
        const marks = Object.keys(row).map(() => "?");
        const sql = `INSERT OR REPLACE INTO ${table} (${Object.keys(row).join()}) VALUES (${marks.join()})`;
        await env.DB.prepare(sql)
          .bind(...Object.values(row))
          .run();
      }
    }
    await passDays(at.vault, 40);
    expect(await bytesOf(await at.download(file))).toEqual(BYTES);
    await remove();
    await passDays(at.vault, 30.9);
    expect(await exists()).toBe(true);
    await passDays(at.vault, 0.2);
    expect(await exists()).toBe(false);
  });

  it("stays when D1 refused the removal", async () => {
    await rebindCoordinator(at.vault, {
      DB: wrapDatabase(env.DB, { rewrite: (sql) => sql.replace("INSERT INTO activity", "INSERT INTO nowhere") }),
    });
    await remove();
    await rebindCoordinator(at.vault, {});
    await passDays(at.vault, 40);
    expect(await bytesOf(await at.download(file))).toEqual(BYTES);
    expect(await pendingRecordsOf(at.vault)).toEqual([]);
  });
});

it("FILE_RETENTION_DAYS is the time for which the content of a deleted File stays", async () => {
  await rebindCoordinator(at.vault, { FILE_RETENTION_DAYS: 3 });
  await at.call("DELETE", `${at.files}/${file}`);
  await passDays(at.vault, 2.9);
  expect(await exists()).toBe(true);
  await passDays(at.vault, 0.2);
  expect(await exists()).toBe(false);
});

it("contents of a deleted vault stay for FILE_RETENTION_DAYS from its deletion, also those of Files that were deleted before", async () => {
  await rebindCoordinator(at.vault, { FILE_RETENTION_DAYS: 3 });
  await at.upload(BYTES);
  await at.call("DELETE", `${at.files}/${file}`);
  await passDays(at.vault, 2);
  expect((await admin("DELETE", `/v1/admin/vaults/${at.vault}`)).status).toBe(204);
  await passDays(at.vault, 2.9);
  expect(await objectsOf(at.vault)).toHaveLength(2);
  await passDays(at.vault, 0.2);
  expect([await objectsOf(at.vault), await pendingRecordsOf(at.vault)]).toEqual([[], []]);
});

/** Out: the key of an object without a row, which the coordinator of that name has recorded as pending. */
async function orphan(name = at.vault): Promise<string> {
  const place = { vault: at.vault, item: at.item, file: crypto.randomUUID(), generation: crypto.randomUUID() };
  await env.COORDINATOR.getByName(name).expect(place);
  await env.FILES.put(`${at.vault}/${place.file}/${place.generation}`, BYTES);
  return `${at.vault}/${place.file}/${place.generation}`;
}

describe("a content whose row was never committed", () => {
  it("stays for a day and the 31 days of the sweeps, and is then deleted", async () => {
    const orphaned = await orphan();
    await passDays(at.vault, 31.9);
    expect(await exists(orphaned)).toBe(true);
    await passDays(at.vault, 0.2);
    expect([await exists(orphaned), await exists()]).toEqual([false, true]);
  });

  it("is deleted also when more than 1,000 are due before it, which is what an alarm sweeps; other contents stay", async () => {
    const orphaned = await orphan();
    await runInDurableObject(env.COORDINATOR.getByName(at.vault), (_, { storage }) =>
      storage.sql.exec(
        `INSERT INTO watched (key, item, due, next_sweep)
         WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT ?1 || '/' || i || '/1', 'one', 1, 1 FROM n`,
        at.vault,
      ),
    );
    await passDays(at.vault, 33);
    expect([await exists(orphaned), await objectsOf(at.vault), await pendingRecordsOf(at.vault)]).toEqual([false, [key], []]);
  });
});

/** Runs the coordinator's alarm until D1 has answered. Out: a function that runs `outcome` and the rest of the alarm. */
async function suspendAlarm(outcome: () => unknown) {
  const [reached, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let first = true;
  const slow = wrapDatabase(env.DB, {
    after: async () => {
      if (!first) return;
      first = false;
      reached.resolve();
      await gate.promise;
      await outcome();
    },
  });
  await rebindCoordinator(at.vault, { DB: slow });
  const alarm = runDurableObjectAlarm(env.COORDINATOR.getByName(at.vault));
  await reached.promise;
  return async () => {
    gate.resolve();
    await alarm;
    await rebindCoordinator(at.vault, {});
  };
}

describe("the alarm", () => {
  const FAULTS: readonly (readonly [string, Partial<Env>])[] = [
    ["D1 is down", { DB: wrapDatabase(env.DB, { before: failD1 }) }],
    ["R2 is down", { FILES: wrapBucket({ delete: failR2, list: failR2 }) }],
  ];

  it.each(FAULTS)("retries an hour later when %s", async (_, fault) => {
    const orphaned = await orphan();
    await passDays(at.vault, 2);
    await rebindCoordinator(at.vault, fault);
    advanceClock(31 * DAY);
    await runDueAlarms(at.vault);
    const now = Date.now();
    expect(await pendingRecordsOf(at.vault)).toContainEqual({ key: orphaned, due: now + HOUR });
    await rebindCoordinator(at.vault, {});
    advanceClock(59 * MINUTE);
    await runDueAlarms(at.vault);
    expect(await exists(orphaned)).toBe(true);
    advanceClock(2 * MINUTE);
    await runDueAlarms(at.vault);
    expect([await exists(orphaned), await exists(), await pendingRecordsOf(at.vault)]).toEqual([false, true, []]);
  });

  it.each(FAULTS)("retries to delete the contents of a deleted vault an hour later when %s", async (_, fault) => {
    await passDays(at.vault, 2);
    await admin("DELETE", `/v1/admin/vaults/${at.vault}`);
    await rebindCoordinator(at.vault, fault);
    advanceClock(31.1 * DAY);
    await runDueAlarms(at.vault);
    expect(await exists()).toBe(true);
    await rebindCoordinator(at.vault, {});
    advanceClock(61 * MINUTE);
    await runDueAlarms(at.vault);
    expect(await objectsOf(at.vault)).toEqual([]);
  });

  it("deletes no content that a row references when it runs many times", async () => {
    await at.upload(pattern(20_000));
    for (let n = 0; n < runs(30, 100); n++) {
      if (n % 3 === 0) advanceClock(DAY / 2);
      await runDurableObjectAlarm(env.COORDINATOR.getByName(at.vault));
    }
    expect(await objectsOf(at.vault)).toHaveLength(2);
    await expectNoOrphans(at);
  });

  it.each([
    ["keeps the new record: the content is deleted after 31 days", () => undefined],
    ["and then fails does not shorten the 31 days", failD1],
  ])("that overlaps with a deletion %s", async (_, end) => {
    const place = { vault: at.vault, item: at.item, file, generation: key.split("/")[2]! };
    await env.COORDINATOR.getByName(at.vault).expect(place); // as after an eviction between the commit and the deletion of the record
    advanceClock(25 * HOUR);
    const resume = await suspendAlarm(end);
    expect((await at.call("DELETE", `${at.files}/${file}`)).status).toBe(204);
    await resume();
    await passDays(at.vault, 30.9);
    expect(await exists()).toBe(true);
    await passDays(at.vault, 0.2);
    expect(await objectsOf(at.vault)).toEqual([]);
  });
});

it("two coordinators of a vault each delete the contents that they recorded, and none that a row references", async () => {
  const names = [at.vault, `${at.vault} again`];
  const bindings = { COORDINATOR: alternatingCoordinators(names) };
  for (let n = 0; n < 5; n++) expect((await at.upload(BYTES, "?name=n", { env: bindings })).status).toBe(200);
  const orphaned = await Promise.all(names.map(orphan));
  for (let day = 0; day < 35; day++) {
    advanceClock(DAY);
    for (const name of names) await runDueAlarms(name);
  }
  expect(await Promise.all(orphaned.map(exists))).toEqual([false, false]);
  expect(await objectsOf(at.vault)).toHaveLength(6);
  await expectNoOrphans(at);
});
