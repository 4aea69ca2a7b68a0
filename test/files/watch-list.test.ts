import { runDurableObjectAlarm } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { rebindCoordinator, wrapDatabase } from "../support/bindings.ts";
import { DAY, expectNoOrphans, HOUR, keyOf, later, type Place, ring, watchedBy, wrapBucket } from "../support/faults.ts";
import { bytesOf, freshItem, lengthOf, objectsOf, pattern } from "../support/files.ts";
import { shared } from "../support/hammer.ts";
import { admin } from "../support/service.ts";

/** What no row holds goes from R2 when its time has come, not before; what a row holds stays, whatever happens. */

const BYTES = pattern(1000);
const MINUTE = HOUR / 60;

let at: Place;
let file: string;
let key: string;

beforeEach(async () => {
  at = await freshItem();
  file = (await at.upload(BYTES)).body.id;
  key = await keyOf(at.vault, file);
});

afterEach(() => {
  vi.useRealTimers();
});

const there = async (one = key) => (await env.FILES.head(one)) !== null;
const lost = () => Promise.reject(new Error("D1_ERROR: Network connection lost."));
const broken = () => Promise.reject(new Error("We encountered an internal error. Please try again. (10001)"));

/** The clock goes on by a day at a time, and whatever is due rings. */
async function pass(days: number, name = at.vault): Promise<void> {
  for (let left = days; left > 0; left--) {
    later(Math.min(left, 1) * DAY);
    await ring(name);
  }
}

const WAYS: readonly (readonly [string, () => Promise<unknown>])[] = [
  ["deleted", () => at.call("DELETE", `${at.files}/${file}`)],
  ["replaced", () => at.call("PUT", `${at.files}/${file}/content`, { body: BYTES, headers: lengthOf(BYTES) })],
  ["deleted with its Item", () => at.call("DELETE", at.path)],
  ["deleted with its vault", () => admin("DELETE", `/v1/admin/vaults/${at.vault}`)],
];

describe.each(WAYS)("the content of a File that was %s", (_, remove) => {
  it("at once after its upload stays for 31 days, and is gone after them", async () => {
    await remove();
    await pass(30.9);
    expect(await there()).toBe(true);
    await pass(0.2);
    expect(await there()).toBe(false);
  });

  it("days after its upload stays for 31 days, and is gone after them", async () => {
    await pass(5);
    await remove();
    await pass(30.9);
    expect(await there()).toBe(true);
    await pass(0.2);
    expect(await there()).toBe(false);
  });

  it("stays when its row came back, as after a restore of D1, until it is removed again", async () => {
    const tables = ["vaults", "items", "files"];
    const read = (table: string) =>
      env.DB.prepare(`SELECT * FROM ${table} WHERE ${table === "vaults" ? "id" : "vault_id"} = ?`)
        .bind(at.vault)
        .all();
    const saved = await Promise.all(tables.map(async (table) => [table, (await read(table)).results] as const));
    await remove();
    await pass(10);
    for (const [table, rows] of saved) {
      for (const row of rows) {
        const marks = Object.keys(row).map(() => "?");
        const sql = `INSERT OR REPLACE INTO ${table} (${Object.keys(row).join()}) VALUES (${marks.join()})`;
        await env.DB.prepare(sql)
          .bind(...Object.values(row))
          .run();
      }
    }
    await pass(40);
    expect(await bytesOf(await at.download(file))).toEqual(BYTES);
    await remove();
    await pass(30.9);
    expect(await there()).toBe(true);
    await pass(0.2);
    expect(await there()).toBe(false);
  });

  it("stays when the removal never reached D1", async () => {
    await rebindCoordinator(at.vault, {
      DB: wrapDatabase(env.DB, { rewrite: (sql) => sql.replace("INSERT INTO activity", "INSERT INTO nowhere") }),
    });
    await remove();
    await rebindCoordinator(at.vault, {});
    await pass(40);
    expect(await bytesOf(await at.download(file))).toEqual(BYTES);
    expect(await watchedBy(at.vault)).toEqual([]);
  });
});

it("FILE_RETENTION_DAYS says how long a content stays", async () => {
  await rebindCoordinator(at.vault, { FILE_RETENTION_DAYS: 3 });
  await at.call("DELETE", `${at.files}/${file}`);
  await pass(2.9);
  expect(await there()).toBe(true);
  await pass(0.2);
  expect(await there()).toBe(false);
});

/** An object of R2 whose row never came, noted by the coordinator of that name. */
async function orphan(name = at.vault): Promise<string> {
  const place = { vault: at.vault, item: at.item, file: crypto.randomUUID(), generation: crypto.randomUUID() };
  await env.COORDINATOR.getByName(name).expect(place);
  await env.FILES.put(`${at.vault}/${place.file}/${place.generation}`, BYTES);
  return `${at.vault}/${place.file}/${place.generation}`;
}

describe("a content whose row never came", () => {
  it("stays for a day and the 31 days of the sweeps, and is gone after them", async () => {
    const left = await orphan();
    await pass(31.9);
    expect(await there(left)).toBe(true);
    await pass(0.2);
    expect([await there(left), await there()]).toEqual([false, true]);
  });

  it("is deleted also when there are 250 of them, and nothing else", async () => {
    await Promise.all(Array.from({ length: 250 }, () => orphan()));
    expect(await objectsOf(at.vault)).toHaveLength(251);
    await pass(33);
    expect([await objectsOf(at.vault), await watchedBy(at.vault)]).toEqual([[key], []]);
  });
});

/** Lets the coordinator's next alarm wait after it asked D1; out: a function that lets it go on, as it was told. */
async function heldAlarm(outcome: () => unknown) {
  const [asked, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let first = true;
  const slow = wrapDatabase(env.DB, {
    after: async () => {
      if (!first) return;
      first = false;
      asked.resolve();
      await gate.promise;
      await outcome();
    },
  });
  await rebindCoordinator(at.vault, { DB: slow });
  const alarm = runDurableObjectAlarm(env.COORDINATOR.getByName(at.vault));
  await asked.promise;
  return async () => {
    gate.resolve();
    await alarm;
    await rebindCoordinator(at.vault, {});
  };
}

describe("an alarm", () => {
  const FAULTS: readonly (readonly [string, Partial<Env>])[] = [
    ["D1 is down", { DB: wrapDatabase(env.DB, { before: lost }) }],
    ["R2 is down", { FILES: wrapBucket({ delete: broken, list: broken }) }],
  ];

  it.each(FAULTS)("when %s: tries again an hour later", async (_, fault) => {
    const left = await orphan();
    await pass(2);
    await rebindCoordinator(at.vault, fault);
    later(31 * DAY);
    await ring(at.vault);
    const now = Date.now();
    expect(await watchedBy(at.vault)).toContainEqual({ key: left, due: now + HOUR });
    await rebindCoordinator(at.vault, {});
    later(59 * MINUTE);
    await ring(at.vault);
    expect(await there(left)).toBe(true);
    later(2 * MINUTE);
    await ring(at.vault);
    expect([await there(left), await there(), await watchedBy(at.vault)]).toEqual([false, true, []]);
  });

  it.each(FAULTS)("when %s: a deleted vault's contents are tried again, too", async (_, fault) => {
    await pass(2);
    await admin("DELETE", `/v1/admin/vaults/${at.vault}`);
    await rebindCoordinator(at.vault, fault);
    later(31.1 * DAY);
    await ring(at.vault);
    expect(await there()).toBe(true);
    await rebindCoordinator(at.vault, {});
    later(61 * MINUTE);
    await ring(at.vault);
    expect(await objectsOf(at.vault)).toEqual([]);
  });

  it("a hundred times, whether anything is due or not, disturbs no living File", async () => {
    await at.upload(pattern(20_000));
    for (let n = 0; n < 100; n++) {
      if (n % 3 === 0) later(DAY / 2);
      await runDurableObjectAlarm(env.COORDINATOR.getByName(at.vault));
    }
    expect(await objectsOf(at.vault)).toHaveLength(2);
    await expectNoOrphans(at);
  });

  it.each([
    ["forgets nothing: the content is gone after 31 days", () => undefined],
    ["and then fails does not cut the 31 days short", lost],
  ])("that overlaps with a deletion %s", async (_, end) => {
    const place = { vault: at.vault, item: at.item, file, generation: key.split("/")[2]! };
    await env.COORDINATOR.getByName(at.vault).expect(place); // as after an eviction between the commit and the end of the record
    later(25 * HOUR);
    const goOn = await heldAlarm(end);
    expect((await at.call("DELETE", `${at.files}/${file}`)).status).toBe(204);
    await goOn();
    await pass(30.9);
    expect(await there()).toBe(true);
    await pass(0.2);
    expect(await objectsOf(at.vault)).toEqual([]);
  });
});

it("two coordinators of a vault: each deletes what was left over under its eyes, and no living File", async () => {
  const names = [at.vault, `${at.vault} again`];
  const bindings = { COORDINATOR: shared(names) };
  for (let n = 0; n < 5; n++) expect((await at.upload(BYTES, "?name=n", { env: bindings })).status).toBe(200);
  const left = await Promise.all(names.map(orphan));
  for (let day = 0; day < 35; day++) {
    later(DAY);
    for (const name of names) await ring(name);
  }
  expect(await Promise.all(left.map(there))).toEqual([false, false]);
  expect(await objectsOf(at.vault)).toHaveLength(6);
  await expectNoOrphans(at);
});
