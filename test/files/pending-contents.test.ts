import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { VaultCoordinator } from "../../src/index.ts";
import type { Operation } from "../../src/model/operation.ts";
import { KEEP_NOTHING, rebindCoordinator, wrapBucket, wrapDatabase } from "../support/bindings.ts";
import { alternatingCoordinators } from "../support/concurrent-patches.ts";
import { otherTag } from "../support/etags.ts";
import {
  advanceClock,
  DAY,
  expectNoOrphans,
  freshContent,
  HOUR,
  keyOf,
  pendingRecordsOf,
  type Place,
  runDueAlarms,
} from "../support/faults.ts";
import { bytesOf, lengthOf, objectsOf, pattern } from "../support/files.ts";
import { passDaysQuickly as passDays, removeRows } from "../support/restore.ts";
import { runs } from "../support/runs.ts";
import { admin } from "../support/service.ts";
import { restoreWaits, skipWaits } from "../support/waits.ts";

/**
 * Pending contents (docs/consistency.md, An upload). A content has a record from before its upload to the commit of its row, and from the
 * removal of the row to its deletion. The alarm deletes a content that no row references when its record is due, not before.
 */

const BYTES = pattern(1000);
const OTHER = pattern(2000);
const MINUTE = HOUR / 60;
const failD1 = () => Promise.reject(new Error("D1_ERROR: Network connection lost."));
const failR2 = () => Promise.reject(new Error("We encountered an internal error. Please try again. (10001)"));

let at: Place;
let file: string;
let key: string;

beforeEach(async () => {
  ({ at, file, key } = await freshContent(BYTES, KEEP_NOTHING));
});

afterEach(() => {
  vi.useRealTimers();
  restoreWaits();
});

const coordinator = () => env.COORDINATOR.getByName(at.vault);
const exists = async (one = key) => (await env.FILES.head(one)) !== null;
const keysOf = async () => (await pendingRecordsOf(at.vault)).map((record) => record.key);
const wrote = (results: D1Result[]) => results.some(({ meta }) => meta.rows_written > 0);
const remove = () => at.call("DELETE", `${at.files}/${file}`);
const replace = (bytes = BYTES) => at.call("PUT", `${at.files}/${file}/content`, { body: bytes, headers: lengthOf(bytes) });

/** Expects that an object stays for some days and is deleted then. */
async function expectDeletedAfter(days: number, one = key): Promise<void> {
  await passDays(at.vault, days - 0.1);
  expect(await exists(one)).toBe(true);
  await passDays(at.vault, 0.2);
  expect(await exists(one)).toBe(false);
}

const REMOVALS: readonly (readonly [string, () => Promise<unknown>])[] = [
  ["deleted", remove],
  ["replaced", replace],
  ["deleted with its Item", () => at.call("DELETE", at.path)],
  ["deleted with its vault", () => admin("DELETE", `/v1/admin/vaults/${at.vault}`)],
];

/** D1 that refuses each commit. */
const withoutLogTable = wrapDatabase(env.DB, {
  rewrite: (sql) => sql.replace("INSERT INTO activity", "INSERT INTO nowhere"),
});

describe.each(REMOVALS)("the content of a File that was %s", (_, release) => {
  it.each([
    ["at once", 0],
    ["days", 5],
  ])("%s after its upload stays for 31 days and is then deleted", async (_when, days) => {
    if (days > 0) await passDays(at.vault, days);
    await release();
    await expectDeletedAfter(31);
  });

  it("stays when a restore of D1 brings back its row, until it is removed again", async () => {
    const tables = ["vaults", "items", "files"] as const;
    const putBack = await removeRows(at.vault, tables);
    await putBack();
    await release();
    await passDays(at.vault, 10);
    await removeRows(at.vault, tables);
    await putBack();
    await passDays(at.vault, 40);
    expect(await bytesOf(await at.download(file))).toEqual(BYTES);
    await release();
    await expectDeletedAfter(31);
  });

  it("stays when D1 refused the removal", async () => {
    await rebindCoordinator(at.vault, { DB: withoutLogTable });
    await release();
    await rebindCoordinator(at.vault, {});
    await passDays(at.vault, 40);
    expect(await bytesOf(await at.download(file))).toEqual(BYTES);
    expect(await keysOf()).toEqual([]);
  });
});

describe("FILE_RETENTION_DAYS", () => {
  it("is the time for which the content of a deleted File stays", async () => {
    await rebindCoordinator(at.vault, { FILE_RETENTION_DAYS: 3 });
    await remove();
    await expectDeletedAfter(3);
  });

  it("holds for the contents of a deleted vault from its deletion, also for those of Files that were deleted before", async () => {
    await rebindCoordinator(at.vault, { FILE_RETENTION_DAYS: 3 });
    await at.upload(BYTES);
    await remove();
    await passDays(at.vault, 2);
    expect((await admin("DELETE", `/v1/admin/vaults/${at.vault}`)).status).toBe(204);
    await expectDeletedAfter(3);
    expect([await objectsOf(at.vault), await keysOf()]).toEqual([[], []]);
  });

  it.each([
    ["deleted", remove, 0],
    ["deleted with its Item", () => at.call("DELETE", at.path), 0],
    ["replaced", replace, 1],
  ] as const)("of 0 lets the next alarm delete the content of a File that was %s", async (_, release, left) => {
    await rebindCoordinator(at.vault, { FILE_RETENTION_DAYS: 0 });
    await release();
    const alarm = await runInDurableObject(coordinator(), (_object, { storage }) => storage.getAlarm());
    expect(alarm).toBeLessThan(Date.now() + 2 * MINUTE);
    advanceClock(2 * MINUTE);
    await runDurableObjectAlarm(coordinator());
    expect([(await objectsOf(at.vault)).length, await keysOf()]).toEqual([left, []]);
  });

  it("of 0 lets an alarm between the record and the commit leave the record", async () => {
    let rung = false;
    const before = async (statements: number) => {
      if (rung || statements < 3) return;
      rung = true;
      await runDurableObjectAlarm(coordinator());
    };
    await rebindCoordinator(at.vault, { DB: wrapDatabase(env.DB, { before }), FILE_RETENTION_DAYS: 0 });
    expect((await remove()).status).toBe(204);
    expect([await objectsOf(at.vault), rung]).toMatchObject([{ length: 1 }, true]);
    await rebindCoordinator(at.vault, { FILE_RETENTION_DAYS: 0 });
    advanceClock(2 * MINUTE);
    expect(await runDurableObjectAlarm(coordinator()), "an alarm is set").toBe(true);
    expect([await objectsOf(at.vault), await keysOf()]).toEqual([[], []]);
  });
});

/** Uploads while D1 is down: the commit loop gives up without its waits. Returns the key of the content. */
async function uploadInVain(variables: Partial<Env> = {}): Promise<string> {
  await rebindCoordinator(at.vault, { DB: wrapDatabase(env.DB, { before: failD1 }), ...variables });
  skipWaits();
  expect((await at.upload(BYTES)).status).toBe(503);
  restoreWaits();
  await rebindCoordinator(at.vault, variables);
  const [pending = ""] = await keysOf();
  expect(new Set(await objectsOf(at.vault))).toEqual(new Set([key, pending]));
  return pending;
}

/** Makes an object without a row, which the coordinator of that name has recorded as pending. Returns its key. */
async function orphan(name = at.vault): Promise<string> {
  const place = { vault: at.vault, item: at.item, file: crypto.randomUUID(), generation: crypto.randomUUID() };
  await env.COORDINATOR.getByName(name).expect(place);
  await env.FILES.put(`${at.vault}/${place.file}/${place.generation}`, BYTES);
  return `${at.vault}/${place.file}/${place.generation}`;
}

describe("a content whose row was never committed", () => {
  it("stays for a day and the 31 days of the sweeps, and is then deleted", async () => {
    await expectDeletedAfter(32, await orphan());
    expect(await exists()).toBe(true);
  });

  it("stays as long after an upload without an answer", async () => {
    await expectDeletedAfter(32, await uploadInVain());
    expect([await objectsOf(at.vault), await keysOf()]).toEqual([[key], []]);
  });

  it("is deleted by the first sweep with FILE_RETENTION_DAYS = 0", async () => {
    await expectDeletedAfter(1, await uploadInVain({ FILE_RETENTION_DAYS: 0 }));
    expect([await objectsOf(at.vault), await keysOf()]).toEqual([[key], []]);
  });

  it("is deleted also when more than 1,000 are due before it, which is what an alarm sweeps; other contents stay", async () => {
    const orphaned = await orphan();
    await runInDurableObject(coordinator(), (_, { storage }) =>
      storage.sql.exec(
        `INSERT INTO watched (key, item, due, next_sweep)
         WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT ?1 || '/' || i || '/1', 'one', 1, 1 FROM n`,
        at.vault,
      ),
    );
    await passDays(at.vault, 33);
    expect([await exists(orphaned), await objectsOf(at.vault), await keysOf()]).toEqual([false, [key], []]);
  });

  it("is left by no refusal of the only coordinator that got it", async () => {
    expect((await at.upload(BYTES, "?name=f", { headers: { "If-Match": otherTag(2) } })).status).toBe(412);
    expect(await objectsOf(at.vault)).toEqual([key]);
  });
});

/** A coordinator that uses the storage of another one, as one that follows after a reset while the reset one still goes on. */
const besideOnSameStorage = {
  getByName: (name: string) => ({
    write: (operation: Operation) =>
      runInDurableObject(env.COORDINATOR.getByName(name), (_, state) =>
        new VaultCoordinator(state, { ...env, ...KEEP_NOTHING }).write(operation),
      ),
  }),
} as unknown as Env["COORDINATOR"];

describe("a pending record", () => {
  it("is deleted by the commit of the row", async () => {
    expect(await keysOf()).toEqual([]);
    await replace(OTHER);
    expect(await keysOf()).toEqual([key]);
  });

  it("stays for a content that one commit both added and released", async () => {
    const replies = await Promise.all(Array.from({ length: 5 }, () => replace(OTHER)));
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));
    const live = await keyOf(at.vault, file);
    expect((await keysOf()).toSorted()).toEqual((await objectsOf(at.vault)).filter((one) => one !== live).toSorted());
  });

  it("stays for a content that another coordinator released before the commit that added the content has ended", async () => {
    const { id: other } = (await at.upload(OTHER)).body;
    const [committed, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const after = (results: D1Result[]) => (wrote(results) ? (committed.resolve(), gate.promise) : undefined);
    await rebindCoordinator(at.vault, { DB: wrapDatabase(env.DB, { after }) });
    const replacement = replace(OTHER);
    await committed.promise;
    expect((await at.call("DELETE", `${at.files}/${file}`, { env: { COORDINATOR: besideOnSameStorage } })).status).toBe(204);
    gate.resolve();
    expect((await replacement).status).toBe(200);
    await rebindCoordinator(at.vault, {});
    expect(await objectsOf(at.vault)).toHaveLength(3);
    await passDays(at.vault, 31.1);
    expect([await objectsOf(at.vault), await keysOf()]).toEqual([[await keyOf(at.vault, other)], []]);
  });

  it("that the coordinator could not delete is deleted by the alarm, and the content stays", async () => {
    let commits = 0;
    const after = (results: D1Result[]) => (wrote(results) && ++commits === 1 ? failD1() : undefined);
    await rebindCoordinator(at.vault, { DB: wrapDatabase(env.DB, { after }) });
    const { id } = (await at.upload(BYTES)).body;
    await rebindCoordinator(at.vault, {});
    expect(await keysOf()).toEqual([await keyOf(at.vault, id)]);
    await passDays(at.vault, 2);
    expect(await keysOf()).toEqual([]);
    await passDays(at.vault, 40);
    expect(await bytesOf(await at.download(id))).toEqual(BYTES);
  });
});

/** Runs the coordinator's alarm until D1 has answered. Returns a function that runs `outcome` and the rest of the alarm. */
async function suspendAlarm(outcome: () => unknown) {
  const [reached, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let first = true;
  const after = async () => {
    if (!first) return;
    first = false;
    reached.resolve();
    await gate.promise;
    await outcome();
  };
  await rebindCoordinator(at.vault, { DB: wrapDatabase(env.DB, { after }) });
  const alarm = runDurableObjectAlarm(coordinator());
  await reached.promise;
  return async () => {
    gate.resolve();
    await alarm;
    await rebindCoordinator(at.vault, {});
  };
}

const FAULTS: readonly (readonly [string, Partial<Env>])[] = [
  ["D1 is down", { DB: wrapDatabase(env.DB, { before: failD1 }) }],
  ["R2 is down", { FILES: wrapBucket({ delete: failR2, list: failR2 }) }],
];

describe("the alarm", () => {
  it.each(FAULTS)("retries an hour later when %s", async (_, fault) => {
    const orphaned = await orphan();
    await passDays(at.vault, 2);
    await rebindCoordinator(at.vault, fault);
    advanceClock(31 * DAY);
    await runDueAlarms(at.vault);
    expect(await pendingRecordsOf(at.vault)).toContainEqual({ key: orphaned, due: Date.now() + HOUR });
    await rebindCoordinator(at.vault, {});
    for (const [minutes, isThere] of [[59, true] as const, [2, false] as const]) {
      advanceClock(minutes * MINUTE);
      await runDueAlarms(at.vault);
      expect(await exists(orphaned)).toBe(isThere);
    }
    expect([await exists(), await keysOf()]).toEqual([true, []]);
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
      await runDurableObjectAlarm(coordinator());
    }
    expect(await objectsOf(at.vault)).toHaveLength(2);
    await expectNoOrphans(at);
  });

  it.each([
    ["keeps the new record: the content is deleted after 31 days", () => undefined],
    ["and then fails does not shorten the 31 days", failD1],
  ])("that overlaps with a deletion %s", async (_, end) => {
    const place = { vault: at.vault, item: at.item, file, generation: key.split("/")[2]! };
    await coordinator().expect(place); // as after an eviction between the commit and the deletion of the record
    advanceClock(25 * HOUR);
    const resume = await suspendAlarm(end);
    expect((await remove()).status).toBe(204);
    await resume();
    await expectDeletedAfter(31);
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
