import { catchDefect, logRefusal } from "../log.ts";
import { HOUR } from "../model/time.ts";
import { filesOf } from "../store/buckets/r2.ts";
import * as pending from "../store/contents/pending.ts";
import { sweep, type Swept } from "../store/contents/sweep.ts";
import { openStore } from "../store/d1/database.ts";
import { isDue, nextDue } from "../store/events/webhook-progress.ts";
import { webhookPorts } from "./ports.ts";
import type { Turns } from "./queue.ts";
import { postponeAll, runWebhooks } from "./webhooks/delivery.ts";

/**
 * The alarm of a coordinator, which runs its tasks without a request. A coordinator has one alarm, which is set for the task that is due
 * first.
 */

const clock = () => Date.now();

/** The coordinator's storage and bindings. */
interface AlarmContext {
  readonly storage: DurableObjectStorage;
  readonly env: Env;
  /**
   * Runs a sweep of contents while no step of a restore is prepared. Otherwise the sweep could delete contents for which the restore is
   * about to write rows.
   */
  readonly sweepTurn: Turns;
}

/** Runs the tasks that are due, and sets the next alarm. The webhooks come last, because receivers may take their time. */
export async function runAlarm(context: AlarmContext): Promise<void> {
  const { storage } = context;
  if (pending.nextSweep(storage.sql) <= Date.now()) await sweepContents(context);
  if (isDue(storage.sql, Date.now())) await deliverWebhooks(context);
  await setAlarm(storage);
}

/** Sets the alarm for the task that is due first, unless it is set for an earlier time. */
export async function setAlarm(storage: DurableObjectStorage): Promise<void> {
  const next = Math.min(pending.nextSweep(storage.sql), nextDue(storage.sql));
  if (next === Infinity) return;
  const alarm = await storage.getAlarm();
  if (alarm === null || next < alarm) await storage.setAlarm(next);
}

/** Sweeps the pending contents that are due. After an error they are due again in an hour. */
function sweepContents({ storage: { sql }, env, sweepTurn }: AlarmContext): Promise<void> {
  return sweepTurn(async () => {
    const due = pending.listDue(sql, Date.now());
    for (const { record, next } of await trySweep(env, due)) pending.updateRecord(sql, record, next);
  });
}

async function trySweep(env: Env, records: readonly pending.PendingRecord[]): Promise<readonly Swept[]> {
  const store = await openStore(env, Date.now());
  const swept = store.ok ? await sweep(store.value, filesOf(env), records) : store;
  if (swept.ok) return swept.value;
  logRefusal(swept);
  const until = Date.now() + HOUR;
  return records.map((record) => ({ record, next: pending.postponed(record, until) }));
}

/** Delivers events. After an error the webhooks are due again in a minute. */
async function deliverWebhooks({ storage: { sql }, env }: AlarmContext): Promise<void> {
  const store = await openStore(env, clock());
  const run = store.ok
    ? await catchDefect("The delivery to webhooks", () => runWebhooks(webhookPorts(sql, store.value, clock)))
    : store;
  if (run.ok) return;
  logRefusal(run);
  postponeAll({ sql, clock });
}
