import { createScheduledController } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import worker from "../../src/index.ts";
import type { ActivityRow } from "../../src/store/activity/entries.ts";
import { recordDatabaseSize } from "../../src/store/d1/size.ts";
import { deliver, recordingQueue } from "../support/activity.ts";
import { sizedDatabase, wrapDatabase } from "../support/bindings.ts";
import { advanceClock, DAY, wrapBucket } from "../support/faults.ts";
import { admin, client, freshVault, LOGIN, makeToken } from "../support/service.ts";
import { UNDER_LOAD } from "../support/waits.ts";

/** A database that is nearly full: the queue's consumer writes reads and denials to R2 (docs/operations.md). */

afterEach(() => void vi.useRealTimers());

const NEARLY_FULL = 9_900_000_000;

/** Delivers rows while the database is nearly full. */
async function deliverNearlyFull(rows: readonly ActivityRow[], bindings: Partial<Env> = {}, attempts = 1): Promise<void> {
  recordDatabaseSize(NEARLY_FULL);
  try {
    await deliver(rows, { DB: sizedDatabase(() => NEARLY_FULL), ...bindings }, attempts);
  } finally {
    recordDatabaseSize(0);
  }
}

const archived = async (): Promise<string[]> => (await env.FILES.list({ prefix: "log/" })).objects.map(({ key }) => key);

const runCron = (archiveDays: number) =>
  worker.scheduled(createScheduledController({ scheduledTime: new Date() }), {
    ...env,
    ACTIVITY_ARCHIVE_DAYS: archiveDays,
  });

const byId = (a: ActivityRow, b: ActivityRow) => (a.id < b.id ? -1 : 1);

/** The rows of a read, a denial and a write, which no consumer has inserted. */
async function makeRows() {
  const fresh = await freshVault();
  const { rows, bindings } = recordingQueue();
  const ACTIVITY = { send: async (message: typeof rows) => void rows.push(...message) } as unknown as Env["ACTIVITY"];
  await fresh.call("GET", fresh.items, { env: { ...bindings, ACTIVITY } });
  await client((await makeToken({})).token)("POST", fresh.items, { body: LOGIN, env: { ACTIVITY } });
  await vi.waitFor(() => expect(rows).toHaveLength(2), UNDER_LOAD);
  const write = { ...rows[0]!, id: crypto.randomUUID(), action: "UPDATE" as const };
  return { ...fresh, rows: [...rows, write], counted: rows, write };
}

const idsIn = async (vault: string): Promise<string[]> =>
  (await env.DB.prepare("SELECT id FROM activity WHERE vault_id = ?1").bind(vault).all<{ id: string }>()).results.map(
    ({ id }) => id,
  );

describe("while the database is nearly full", () => {
  it("reads and denials go to R2, one object a message, and the entries of writes to D1", async () => {
    const { vault, rows, counted, write } = await makeRows();
    const before = await archived();
    await deliverNearlyFull(rows);
    const keys = (await archived()).filter((one) => !before.includes(one));
    for (const key of keys) expect(key).toMatch(/^log\/20\d\d-\d\d-\d\d\/q-[0-9a-f-]{36}$/);
    const ids = await idsIn(vault);
    expect([ids.includes(write.id), counted.some(({ id }) => ids.includes(id))]).toEqual([true, false]);
    const objects = await Promise.all(keys.map(async (key) => (await env.FILES.get(key))!.json<ActivityRow[]>()));
    expect(objects.flat().toSorted(byId)).toEqual(counted.toSorted(byId));
    expect(keys).toHaveLength(counted.length);
  });

  it("a message that is delivered again is one object", async () => {
    const { counted } = await makeRows();
    const before = (await archived()).length;
    await deliverNearlyFull(counted);
    await deliverNearlyFull(counted.slice(1));
    expect(await archived()).toHaveLength(before + counted.length);
  });

  it("a message that an earlier delivery has brought to D1 does not go to R2, and the other way round", async () => {
    const { vault, counted } = await makeRows();
    const before = await archived();
    await deliver(counted.slice(0, 1));
    await deliverNearlyFull(counted, {}, 2);
    expect(await archived()).toHaveLength(before.length + 1);
    await deliver(counted, {}, 2);
    const ids = await idsIn(vault);
    expect(counted.map(({ id }) => ids.includes(id))).toEqual([true, false]);
  });

  it("a batch whose entries of writes D1 does not take is not archived: the queue may deliver it again in other parts", async () => {
    const { rows } = await makeRows();
    const before = (await archived()).length;
    const DB = wrapDatabase(
      sizedDatabase(() => NEARLY_FULL),
      {
        before: (statements) => {
          if (statements > 1) throw new Error("D1_ERROR: D1 DB is overloaded.");
        },
      },
    );
    await expect(deliverNearlyFull(rows, { DB })).rejects.toThrow("inserted");
    expect(await archived()).toHaveLength(before);
  });

  it("a batch that R2 does not take is delivered again", async () => {
    const { counted } = await makeRows();
    const FILES = wrapBucket({ put: () => Promise.reject(new Error("R2")) });
    await expect(deliverNearlyFull(counted, { FILES })).rejects.toThrow("R2");
  });
});

it("reads and denials go to D1 again as soon as the database has room", async () => {
  const { vault, counted } = await makeRows();
  recordDatabaseSize(NEARLY_FULL);
  await deliver(counted); // the isolate has made no D1 call since
  const ids = await idsIn(vault);
  expect(counted.map(({ id }) => ids.includes(id))).toEqual(counted.map(() => true));
});

it.each([
  [0, 30],
  [20, 30],
  [40, 40],
])("with ACTIVITY_ARCHIVE_DAYS = %i the objects are deleted after %i days", async (setting, days) => {
  const { counted } = await makeRows();
  await deliverNearlyFull(counted);
  advanceClock(days * DAY);
  await runCron(setting);
  expect(await archived()).not.toEqual([]);
  advanceClock(1 * DAY);
  await runCron(setting);
  expect(await archived()).toEqual([]);
});

describe.each([
  "",
  "-",
  "not an id",
  "0192ABCD-0000-7000-8000-000000000000",
  "0192abcd00000-7000-8000-00000000000",
  "ffffffff-ffff-7fff",
])("the entry of a log whose id is %j", (id) => {
  it.each([
    ["deleted", 0],
    ["archived", 90],
  ])("keeps no other entry from being %s or exported", async (_, archiveDays) => {
    const { vault, rows } = await makeRows();
    await deliver(rows);
    const sound = await idsIn(vault);
    await env.DB.prepare(
      `INSERT INTO activity SELECT vault_id, ?2, action, result, actor, item_id, version, root_key_id, sealed, resource, NULL, at, event
         FROM activity WHERE vault_id = ?1 LIMIT 1`,
    )
      .bind(vault, id)
      .run();
    try {
      const reply = await admin("GET", `/v1/admin/activity/export?limit=1000&vault=${vault}`);
      expect(reply.status).toBe(200);
      const times = sound.filter((one) => one[14] === "7");
      expect(reply.body.map(({ requestId }: { requestId: string }) => requestId)).toEqual(expect.arrayContaining(times));
      advanceClock(31 * DAY);
      await runCron(archiveDays);
      expect((await idsIn(vault)).filter((one) => times.includes(one))).toEqual([]);
    } finally {
      await env.DB.prepare("DELETE FROM activity WHERE vault_id = ?1").bind(vault).run();
    }
  });
});
