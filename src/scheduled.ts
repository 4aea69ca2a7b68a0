import { startJob, callOperator } from "./durable-object-calls.ts";
import { logFailure, printable } from "./log.ts";
import { uuidOf } from "./model/ids.ts";
import type { BackupInput, NewJob } from "./model/job.ts";
import { must } from "./model/result.ts";
import { DAY, HOUR } from "./model/time.ts";
import { parseSettings, type Settings } from "./settings.ts";
import { deleteOldArchives } from "./store/activity/archive.ts";
import { copySegments, forgetLogs, removeOldRows, removeOldSegments } from "./store/activity/retention.ts";
import { filesOf } from "./store/buckets/r2.ts";
import { listDeletedVaults } from "./store/commit/deleted-vaults.ts";
import { deleteOldRecords } from "./store/commit/idempotency.ts";
import { INVOCATION_CALLS_MAX, shareCalls, type Take, openStore } from "./store/d1/database.ts";
import { forgetWrites } from "./store/jobs/step-fence.ts";
import { recordRootKeys } from "./store/keys/root-keys.ts";
import { removeEarlierKeys } from "./store/rotation/earlier-keys.ts";
import { moveExpiredTokens } from "./store/tokens/ended-tokens.ts";
import { deleteExpiredSessions } from "./store/tokens/sessions.ts";
import { hasDueVaults } from "./store/vaults/due-vaults.ts";
import { deleteOldExchanges } from "./store/workloads/exchanges.ts";

/**
 * D1 calls outside the shared budget, because their number does not depend on the due rows. Logs: 1. Deleted vaults: 1. Due vaults:
 * 1. Jobs: 1. Root keys: 2. Earlier keys: 2.
 */
const UNSHARED_D1_CALLS = 8;

/**
 * Runs the hourly tasks of the cron trigger at `now`, in Unix milliseconds:
 * - archives or deletes activity that is past its retention;
 * - ends expired tokens, sessions and codes, and deletes old exchanges of workload tokens;
 * - starts the jobs that expire deleted Items and versions, and that delete the rows of deleted vaults;
 * - stores the proof of the active root key, and removes earlier keys of vaults that no text names;
 * - starts the nightly backup.
 *
 * Each task runs even if another task fails. Throws if one failed, so that the run shows as failed. A malformed setting fails
 * only the tasks that need a setting. The tasks share the D1 calls of the invocation; the next run continues.
 */
export async function cleanUp(env: Env, now: number): Promise<void> {
  const take = shareCalls(INVOCATION_CALLS_MAX - UNSHARED_D1_CALLS);
  const parts = await Promise.allSettled([
    deleteOldRecords(env.DB, now, take),
    cleanLog(env, now, take),
    moveExpiredTokens(env.DB, now, take),
    deleteExpiredSessions(env.DB, now, take),
    // An hour later than their tokens expire, because clocks may be wrong.
    deleteOldExchanges(env.DB, now - DAY - HOUR, take),
    startPurge(env),
    startExpiry(env, now),
    recordKeys(env, now),
    removeEarlierKeys(env.DB),
    startBackup(env, now),
    forgetWrites(env.DB, now),
  ]);
  const failed = parts.filter((part) => part.status === "rejected");
  for (const { reason } of failed) logFailure("The hourly run", reason);
  if (failed[0]) throw printable("The hourly run", failed[0].reason);
}

async function cleanLog(env: Env, now: number, take: Take): Promise<void> {
  const [db, files] = [env.DB, filesOf(env)];
  const { activityRetention, activityArchive } = settingsOf(env);
  const before = now - activityRetention;
  const archive = activityArchive > activityRetention ? files : undefined;
  // Concurrently, so that no task uses up the calls of another, or stops with it.
  const parts = await Promise.allSettled([
    removeOldRows(db, archive, before, take),
    removeOldSegments(db, archive, before, take),
    copySegments(db, files, now, take),
    deleteOldArchives(files, now - Math.max(activityRetention, activityArchive)),
  ]);
  for (const part of parts) if (part.status === "rejected") throw part.reason;
  await forgetLogs(db);
}

/** Records the root keys, so that a key that later goes missing can be named, even if nobody has listed the keys. */
async function recordKeys(env: Env, now: number): Promise<void> {
  must("record the root keys", await recordRootKeys(must("open the store", await openStore(env, now))));
}

/**
 * Starts the job that deletes the rows of deleted vaults, if there are any. Usually the coordinator of the vault has already started it.
 */
async function startPurge(env: Env): Promise<void> {
  const deleted = must("read the deleted vaults", await listDeletedVaults(env.DB, ""));
  if (deleted.length > 0) must("start the job that deletes their rows", await startJob(env, "purge"));
}

/** Starts the job that lets coordinators expire deleted Items and versions, if some are due. */
async function startExpiry(env: Env, now: number): Promise<void> {
  if (!(await hasDueVaults({ db: env.DB, settings: settingsOf(env), now }))) return;
  must("start the job that expires deleted Items and versions", await startJob(env, "expire"));
}

/** Throws when a setting is malformed. */
const settingsOf = (env: Env): Settings => must("read the settings", parseSettings(env));

/** The nightly backup (contract 21.10). The cron trigger starts a job, which waits for the jobs that exclude it. */

/** Number of hourly runs in a night that try to start the backup. Later runs retry if the operator did not answer. */
const NIGHT_RUNS = 4;

/**
 * Starts the nightly backup at its hour, unless an earlier run of the night has started it. `now` is the time of the cron
 * trigger, in Unix milliseconds. Throws if the start fails.
 */
export async function startBackup(env: Partial<Env>, now: number): Promise<void> {
  const { backupHour } = must("read the settings", parseSettings(env as Env));
  // A deployment may go without backups: its wrangler.toml has no bucket for them.
  if (!env.BACKUPS || backupHour === undefined) return;
  const sinceFirst = now - backupHour * HOUR;
  if (sinceFirst % DAY >= NIGHT_RUNS * HOUR) return;
  const input: BackupInput = { full: false };
  const job: NewJob = {
    id: await idOfNight(Math.floor(sinceFirst / DAY)),
    request: "nightly",
    kind: "backup",
    input,
    waits: true,
  };
  must("start the nightly backup", await callOperator(env as Env, "unavailable", (operator) => operator.create(job)));
}

/** Returns the id of a night's job. The id is fixed, so that the job starts once. `night` is in days since the beginning of 1970. */
async function idOfNight(night: number): Promise<string> {
  const text = new TextEncoder().encode(`nightly backup ${night}`);
  return uuidOf(new Uint8Array(await crypto.subtle.digest("SHA-256", text)).slice(0, 16));
}
