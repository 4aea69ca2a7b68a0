import { logFailure } from "../log.ts";
import { HOUR, MINUTE, SECOND } from "../model/time.ts";
import * as pending from "../store/contents/pending.ts";
import { sweep, type Swept } from "../store/contents/sweep.ts";
import { openStore } from "../store/d1/database.ts";
import { isDue, nextDue } from "../store/events/webhook-progress.ts";
import { INVOCATION_CALLS_MAX, shareCalls } from "../store/d1/calls.ts";
import { deleteRows } from "../store/commit/deleted-vaults.ts";
import { webhookPorts } from "./ports.ts";
import type { Turns } from "./queue.ts";
import { postponeAll, runWebhooks } from "./webhooks/delivery.ts";
import { filesOf } from "../store/buckets/r2.ts";

/**
 * The alarm of a coordinator, which runs its tasks without a request. A coordinator has one alarm, which is set for the task that is due
 * first.
 */

/** Milliseconds until the alarm deletes rows of a deleted vault: the answer to the deletion goes out first. */
const ROW_DELETION_DELAY_MS = SECOND;

/** Milliseconds until the alarm tries again after D1 has failed. */
const RETRY_LATER_MS = MINUTE;

/** The coordinator's storage and bindings. */
export interface AlarmContext {
  readonly storage: DurableObjectStorage;
  readonly env: Env;
  /**
   * Runs a sweep of contents while no step of a restore is prepared. Otherwise the sweep could delete contents for which the restore is
   * about to write rows.
   */
  readonly sweepTurn: Turns;
}

interface Task {
  /** When the task is due next: Unix milliseconds; `undefined` when it has nothing to do. */
  readonly next: (sql: SqlStorage) => number | undefined;
  /** Whether it has something to do now. By default: when it is due. */
  readonly isDue?: (sql: SqlStorage, now: number) => boolean;
  /** Does the work that is due, and postpones what failed. */
  readonly run: (context: AlarmContext) => Promise<void>;
}

/** The webhooks come last, because receivers may take their time. */
const TASKS: readonly Task[] = [
  { next: pending.nextSweep, run: sweepContents },
  { next: nextDue, isDue, run: deliverWebhooks },
];

/** Deletes the rows of the vault after its deletion; then it runs the tasks. */
export async function runAlarm(context: AlarmContext): Promise<void> {
  const { storage, env } = context;
  const delay = await deleteVaultRows(storage.sql, env);
  // Not while rows are left: with a retention of 0 the sweep deletes the record that names the vault.
  if (delay !== undefined) return storage.setAlarm(Date.now() + delay);
  for (const { next, isDue: check, run } of TASKS) {
    const due = next(storage.sql) ?? Infinity;
    if (check?.(storage.sql, Date.now()) ?? due <= Date.now()) await run(context);
  }
  await setAlarm(storage);
}

/** Sets the alarm for the task that is due first, unless it is set for an earlier time. */
export async function setAlarm(storage: DurableObjectStorage): Promise<void> {
  const next = TASKS.flatMap((task) => task.next(storage.sql) ?? []).reduce((first, due) => Math.min(first, due), Infinity);
  if (next === Infinity) return;
  const alarm = await storage.getAlarm();
  if (alarm === null || next < alarm) await storage.setAlarm(next);
}

/** Starts the deletion of the rows of the vault, which was deleted. */
export const startRowDeletion = (storage: DurableObjectStorage): Promise<void> =>
  storage.setAlarm(Date.now() + ROW_DELETION_DELAY_MS);

/** Out: milliseconds until the next slice; `undefined` when no rows are left. */
async function deleteVaultRows(sql: SqlStorage, { DB }: Env): Promise<number | undefined> {
  const vault = pending.deletedVault(sql);
  if (vault === undefined) return undefined;
  const hasMore = await deleteRows(DB, vault, shareCalls(INVOCATION_CALLS_MAX));
  if (!hasMore.ok) return RETRY_LATER_MS;
  return hasMore.value ? ROW_DELETION_DELAY_MS : undefined;
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
  const until = Date.now() + HOUR;
  return records.map((record) => ({ record, next: pending.postponed(record, until) }));
}

/** Delivers events. After a defect the webhooks are due again in a minute. */
async function deliverWebhooks({ storage: { sql }, env }: AlarmContext): Promise<void> {
  const store = await openStore(env, Date.now());
  const ports = store.ok ? webhookPorts(sql, store.value, () => Date.now()) : undefined;
  if (!ports) return postponeAll({ sql, clock: () => Date.now() });
  try {
    await runWebhooks(ports);
  } catch (error) {
    logFailure("The delivery to webhooks", error);
    postponeAll(ports);
  }
}
