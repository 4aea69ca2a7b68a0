import { env } from "cloudflare:workers";
import { expect, vi } from "vitest";
import worker from "../../src/index.ts";
import type { Activity } from "../../src/model/activity.ts";
import { ACTIVITY, type ActivityRow, sealActivity } from "../../src/store/activity/entries.ts";
import type { ActivityMessage } from "../../src/store/activity/queue.ts";
import { openStore } from "../../src/store/d1/database.ts";
import { admin, type Client, type Reply } from "./service.ts";
import { QUEUED } from "./waits.ts";

/** Helpers for the activity log and the queue whose consumer writes it. */

/** The real queue as a binding, and the rows that were sent to it. */
export function recordingQueue() {
  const rows: ActivityRow[] = [];
  const queue: Pick<Queue<ActivityMessage>, "send"> = {
    async send(message) {
      rows.push(...message);
      return env.ACTIVITY.send(message);
    },
  };
  return { rows, bindings: { ACTIVITY: queue as Queue<ActivityMessage> } };
}

/** Delivers rows to the Worker's queue handler, one message per row, as the queue does. */
export async function deliver(rows: readonly ActivityRow[], bindings: Partial<Env> = {}, attempts = 1): Promise<void> {
  const messages = rows.map((row, index) => ({ id: String(index), timestamp: new Date(), attempts, body: [row] }));
  const batch = { queue: "item-vault-activity", messages } as unknown as MessageBatch<ActivityMessage>;
  await worker.queue(batch, { ...env, ...bindings });
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

/**
 * Waits until the log has the entry of a request that begins now: the queue has then delivered those of the requests before it. Each of
 * them has a timer until then, timers fire only when the isolate has nothing else to do, and workerd allows 10,000 of a test.
 */
export async function untilLogged(): Promise<void> {
  const { headers } = await admin("GET", "/v1/admin/vaults");
  const last = env.DB.prepare("SELECT 1 FROM activity WHERE id = ?").bind(headers.get("Request-Id"));
  await vi.waitFor(async () => expect(await last.first()).not.toBeNull(), QUEUED);
}

/**
 * Empties the log when the queue has delivered what requests of earlier files have sent to it. For tests that look at the newest
 * entries, whoever made them: such an entry may be newer than theirs, because its test had set the clock forward.
 */
export async function drainQueue(): Promise<void> {
  await untilLogged();
  await env.DB.batch(["activity", "logs"].map((table) => env.DB.prepare(`DELETE FROM ${table}`)));
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

/** One page of the log. Waits until the log has `count` entries in all, because the queue delivers them later. */
export async function readLog(call: Client, count: number, query = ""): Promise<Reply> {
  return vi.waitFor(async () => {
    const reply = await call("GET", `/v1/activity${query}`);
    expect([reply.status, reply.headers.get("Content-Range")]).toEqual([200, expect.stringMatching(new RegExp(`/${count}$`))]);
    return reply;
  }, QUEUED);
}
