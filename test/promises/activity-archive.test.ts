import { createScheduledController } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { openKeyring } from "../../src/crypto/keyring.ts";
import worker from "../../src/index.ts";
import { openArchive } from "../../src/store/activity-archive.ts";
import type { ActivityRow } from "../../src/store/activity.ts";
import { recordDatabaseSize } from "../../src/store/database-size.ts";
import { deliver, recordingQueue } from "../support/activity.ts";
import { sizedDatabase, wrapDatabase } from "../support/bindings.ts";
import { advanceClock, DAY, wrapBucket } from "../support/faults.ts";
import { client, freshVault, LOGIN, makeToken } from "../support/service.ts";
import { UNDER_LOAD } from "../support/waits.ts";

/** A database that is nearly full: the queue's consumer writes reads and denials to R2 (docs/operations.md). */

afterEach(() => void vi.useRealTimers());

const NEARLY_FULL = 9_900_000_000;

/** Delivers rows while the database is nearly full. */
async function deliverNearlyFull(rows: readonly ActivityRow[], bindings: Partial<Env> = {}): Promise<void> {
  recordDatabaseSize(NEARLY_FULL);
  try {
    await deliver(rows, { DB: sizedDatabase(() => NEARLY_FULL), ...bindings });
  } finally {
    recordDatabaseSize(0);
  }
}

const archived = async (): Promise<string[]> => (await env.FILES.list({ prefix: "activity/" })).objects.map(({ key }) => key);

const runCron = () => worker.scheduled(createScheduledController({ scheduledTime: new Date() }), env);

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
  it("reads and denials go to R2, one object a batch, and the entries of writes to D1", async () => {
    const { vault, rows, counted, write } = await makeRows();
    const before = await archived();
    await deliverNearlyFull(rows);
    const [key, ...others] = (await archived()).filter((one) => !before.includes(one));
    expect(others).toEqual([]);
    expect(key).toMatch(/^activity\/20\d\d-\d\d-\d\d\/[0-9a-f-]{36}$/);
    const ids = await idsIn(vault);
    expect([ids.includes(write.id), counted.some(({ id }) => ids.includes(id))]).toEqual([true, false]);
    const keyring = await openKeyring(env.ROOT_KEYS);
    if (!keyring.ok) throw new Error("ROOT_KEYS");
    const text = await (await env.FILES.get(key!))!.text();
    expect(await openArchive(keyring.value, key!, text)).toEqual({ ok: true, value: counted });
    for (const secret of [vault, counted[0]!.actor, counted[0]!.id]) expect(text).not.toContain(secret);
  });

  it("a batch that is delivered again is one object", async () => {
    const { counted } = await makeRows();
    const before = (await archived()).length;
    await deliverNearlyFull(counted);
    await deliverNearlyFull(counted);
    expect(await archived()).toHaveLength(before + 1);
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

  it("an object does not open under another key", async () => {
    const { counted } = await makeRows();
    await deliverNearlyFull(counted);
    const [key] = await archived();
    const keyring = await openKeyring(env.ROOT_KEYS);
    if (!keyring.ok) throw new Error("ROOT_KEYS");
    const text = await (await env.FILES.get(key!))!.text();
    const other = key!.replace(/.{36}$/, crypto.randomUUID());
    expect(await openArchive(keyring.value, other, text)).toMatchObject({ failure: { kind: "integrity" } });
  });
});

it("reads and denials go to D1 again as soon as the database has room", async () => {
  const { vault, counted } = await makeRows();
  recordDatabaseSize(NEARLY_FULL);
  await deliver(counted); // the isolate has made no D1 call since
  const ids = await idsIn(vault);
  expect(counted.map(({ id }) => ids.includes(id))).toEqual(counted.map(() => true));
});

it("the objects are deleted after the retention", async () => {
  const { counted } = await makeRows();
  await deliverNearlyFull(counted);
  advanceClock(30 * DAY);
  await runCron();
  expect(await archived()).not.toEqual([]);
  advanceClock(1 * DAY);
  await runCron();
  expect(await archived()).toEqual([]);
});
