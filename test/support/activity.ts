import { createScheduledController } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, vi } from "vitest";
import { NOWHERE } from "../../src/crypto/seal.ts";
import worker from "../../src/index.ts";
import type { Activity } from "../../src/model/activity.ts";
import { createRequestId } from "../../src/request-id.ts";
import { ACTIVITY, sealActivity } from "../../src/store/activity/entry-rows.ts";
import { type FlushMessage, flushBatch, sealBatch, takeBatch } from "../../src/store/activity/flush.ts";
import { entriesOf, type Segment, type SegmentEntry } from "../../src/store/activity/segments.ts";
import { openStore } from "../../src/store/d1/database.ts";
import { recordDatabaseSize } from "../../src/store/d1/size.ts";
import { sizedDatabase, sleep } from "./bindings.ts";
import { admin, type Client, type Reply } from "./service.ts";
import { QUEUED } from "./waits.ts";

/** Helpers for the activity log. */

/** Bindings with a queue of their own, and the entries that requests with them have added to the log. Nothing flushes what was looked at. */
export function recordingQueue() {
  const queues: Env["ACTIVITY"][] = [];
  const rows = new Proxy<Activity[]>([], {
    get(target, name) {
      target.push(...queues.flatMap(takeBatch));
      return Reflect.get(target, name) as unknown;
    },
  });
  const bindings = {
    // Each request to which the bindings are given has one of its own, so that no batch is full.
    get ACTIVITY() {
      queues.push({ send: (message: FlushMessage) => env.ACTIVITY.send(message) } as unknown as Env["ACTIVITY"]);
      return queues.at(-1)!;
    },
  };
  /** Takes the entries, so that no flush of them is counted with the D1 calls of the requests. */
  const drop = (): void => void queues.flatMap(takeBatch);
  return { rows: rows as readonly Activity[], bindings, drop };
}

/** An entry of the admin: a read of now, unless `extra` says otherwise. In: its log. */
export const entryOf = (log: string, extra: Partial<Activity> = {}): Activity => ({
  id: createRequestId(Date.now()),
  log,
  action: "READ",
  result: "SUCCESS",
  actor: "admin",
  item: null,
  version: null,
  origin: { userAgent: "", requestIp: "" },
  ...extra,
});

/** What a flush of entries stores. */
export async function messageOf(entries: readonly Activity[]): Promise<FlushMessage> {
  const store = await openStore(env, Date.now());
  if (!store.ok) throw new Error(store.failure.kind);
  return sealBatch(store.value.keyring, entries);
}

/** Delivers messages to the Worker's queue handler, as the queue does. In: what is told of each message that the handler acknowledges. */
export async function deliverMessages(
  bodies: readonly FlushMessage[],
  bindings: Partial<Env> = {},
  ack: (body: FlushMessage) => unknown = () => undefined,
): Promise<void> {
  const messages = bodies.map((body, index) => ({
    id: String(index),
    timestamp: new Date(),
    attempts: 1,
    body,
    ack: () => ack(body),
  }));
  const batch = { queue: "item-vault-activity", messages } as unknown as MessageBatch<FlushMessage>;
  await worker.queue(batch, { ...env, ...bindings });
}

/** The same of entries, 64 a message. */
export async function deliver(entries: readonly Activity[], bindings: Partial<Env> = {}): Promise<void> {
  const bodies: FlushMessage[] = [];
  for (let first = 0; first < entries.length; first += 64) bodies.push(await messageOf(entries.slice(first, first + 64)));
  await deliverMessages(bodies, bindings);
}

/** The entries of the segments of a log, each once, as they are stored, in the order of their ids. */
export async function segmentEntries(log: string): Promise<SegmentEntry[]> {
  const { results } = await env.DB.prepare(
    "SELECT vault_id AS log, id, lines FROM log_segments WHERE vault_id = ?1 OR vault_id GLOB ?1 || ':*'",
  )
    .bind(log)
    .all<Segment>();
  const entries = new Map(results.flatMap(entriesOf).map((entry) => [entry.id, entry]));
  return [...entries.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

/** The ids of the entries of a log that D1 has, in their order. */
export async function idsInLog(log: string): Promise<string[]> {
  const rows = await env.DB.prepare("SELECT id FROM activity WHERE vault_id = ?1").bind(log).all<{ id: string }>();
  return [...rows.results, ...(await segmentEntries(log))].map(({ id }) => id).toSorted();
}

/** Runs the scheduled handler, as the cron trigger does every hour. */
export const runCron = (bindings: Partial<Env> = {}): Promise<void> =>
  worker.scheduled(createScheduledController({ scheduledTime: new Date() }), { ...env, ...bindings });

const NEARLY_FULL = 9_900_000_000;

/** Does something while the database is nearly full, with bindings that say so. */
export async function whileNearlyFull<T>(run: (bindings: Partial<Env>) => Promise<T>): Promise<T> {
  recordDatabaseSize(NEARLY_FULL);
  try {
    return await run({ DB: sizedDatabase(() => NEARLY_FULL) });
  } finally {
    recordDatabaseSize(0);
  }
}

/** Inserts reads into a log, past the service. In: their ids, and what they have that is not that of a read of the vault by the admin. */
export async function fillLog(log: string, ids: readonly string[], more: Partial<Activity> = {}): Promise<void> {
  const store = await openStore(env, Date.now());
  if (!store.ok) throw new Error(store.failure.kind);
  const origin = { userAgent: "", requestIp: "" };
  const entry = { log, action: "READ", result: "SUCCESS", actor: "admin", item: null, version: null, origin, ...more } as const;
  const rows = await Promise.all(ids.map((id) => sealActivity(store.value, { ...entry, id })));
  const sql = `
    INSERT INTO activity (${ACTIVITY.columns}) SELECT value ->> 'log', ${ACTIVITY.values} FROM json_each(?1)`;
  await env.DB.prepare(sql).bind(JSON.stringify(rows)).run();
}

/**
 * Inserts the reads `first` to `last` of `idOf` into a log, each of an Item of its own, by another actor. Nothing can open them, so a page
 * with one of them is a 500.
 */
export async function fillUnopenable(log: string, first: number, last: number): Promise<void> {
  const sql = `
    WITH RECURSIVE places (place) AS (SELECT ?2 UNION ALL SELECT place + 1 FROM places WHERE place < ?3)
    INSERT INTO activity (vault_id, id, action, result, actor, item_id, root_key_id, sealed)
    SELECT ?1, printf('00000000-0000-7000-8000-%012d', place), 'READ', 'SUCCESS', 'service',
      printf('00000000-0000-4000-8000-%012d', place), (SELECT min(id) FROM root_keys), '' FROM places`;
  await env.DB.prepare(sql).bind(log, first, last).run();
}

/** Flushes the log, until it has the entry of a request that begins now: then it has those of the requests before it. */
export async function untilLogged(): Promise<void> {
  const { headers } = await admin("GET", "/v1/admin/vaults");
  const id = headers.get("Request-Id")!;
  await vi.waitFor(async () => {
    await flushBatch(env);
    expect((await segmentEntries(NOWHERE)).some((entry) => entry.id === id)).toBe(true);
  }, QUEUED);
  // Each request waits for two seconds to flush the log. workerd lets no timer ring while it always has something to do, and allows 10,000.
  await sleep(1);
}

/**
 * Empties the log, also of what requests of earlier files have added. For tests that look at the newest entries, whoever made them: such an
 * entry may be newer than theirs, because its test had set the clock forward.
 */
export async function drainQueue(): Promise<void> {
  await untilLogged();
  await env.DB.batch(["activity", "log_segments", "logs"].map((table) => env.DB.prepare(`DELETE FROM ${table}`)));
}

/** A UUIDv7-shaped id; the ids of greater numbers are newer. */
export const idOf = (place: number): string => `00000000-0000-7000-8000-${String(place).padStart(12, "0")}`;

/**
 * The worst case for the newest 1,051 entries of 101 logs: each call of store/activity/merge.ts finds as many slices that
 * have to be doubled as those entries hold, 26 of 39 entries, then 13 of 78, and so on. Out: the ids of each log.
 */
export function nestedLogs(): string[][] {
  const logs = Array.from({ length: 101 }, (): string[] => []);
  let place = 0;
  const add = (first: number, end: number, count: number) => {
    for (const log of logs.slice(first, end)) for (let added = 0; added < count; added++) log.push(idOf(place++));
  };
  // From the oldest to the newest entries. The first ones are older than all that the page needs.
  for (const [end, size] of [
    [26, 39],
    [13, 78],
    [6, 156],
    [3, 312],
    [1, 624],
  ] as const)
    add(0, end, size);
  add(26, 101, 39);
  add(13, 26, 39);
  add(6, 13, 78);
  add(3, 6, 156);
  add(1, 3, 312);
  add(0, 1, 624);
  return logs;
}

/** One page of the log. Waits until the log has `count` entries in all, because a flush follows the requests. */
export async function readLog(call: Client, count: number, query = ""): Promise<Reply> {
  return vi.waitFor(async () => {
    const reply = await call("GET", `/v1/activity${query}`);
    expect([reply.status, reply.headers.get("Content-Range")]).toEqual([200, expect.stringMatching(new RegExp(`/${count}$`))]);
    return reply;
  }, QUEUED);
}

/** Returns all entries of a log or an export, page after page. Calls `between` after each page. */
export async function entriesOfPages<Entry>(call: Client, path: string, between?: () => Promise<unknown>): Promise<Entry[]> {
  const entries: Entry[] = [];
  for (let next: string | undefined = path; next !== undefined;) {
    const { status, body, headers } = await call("GET", next);
    expect(status).toBe(200);
    entries.push(...(body as Entry[]));
    const link = /<([^>]*)>/.exec(headers.get("Link") ?? "")?.[1];
    next = link && new URL(link).pathname + new URL(link).search;
    await between?.();
  }
  return entries;
}

/** The same. Returns their ids. */
export const pagesOf = async (call: Client, path: string, between?: () => Promise<unknown>): Promise<string[]> =>
  (await entriesOfPages<{ requestId: string }>(call, path, between)).map(({ requestId }) => requestId);
