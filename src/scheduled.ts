import { startBackup } from "./nightly.ts";
import { logFailure } from "./log.ts";
import { fail, must, type Result } from "./model/result.ts";
import { parseSettings, type Settings } from "./settings.ts";
import { deleteOldArchives } from "./store/activity/archive.ts";
import { archiveOldActivity, forgetDays } from "./store/activity/archiving.ts";
import { deleteOldActivity, forgetLogs, removeOldSegments } from "./store/activity/retention.ts";
import { INVOCATION_CALLS_MAX, shareCalls, type Take } from "./store/d1/calls.ts";
import { findContentsWithoutRow } from "./store/contents/without-row.ts";
import { type Counts, recordCounts } from "./store/health/counters.ts";
import { checkNewestBackup } from "./store/backup/check-newest.ts";
import { forgetDamages } from "./store/health/damages.ts";
import { openStore } from "./store/d1/database.ts";
import { findDueVaults } from "./store/vaults/due-vaults.ts";
import { moveExpiredTokens } from "./store/tokens/ended-tokens.ts";
import { recordRootKeys } from "./store/keys/root-keys.ts";
import { deleteExpiredSessions } from "./store/tokens/sessions.ts";
import { deleteRowsOfDeletedVaults } from "./store/commit/deleted-vaults.ts";
import { deleteOldRecords } from "./store/commit/idempotency.ts";
import { forgetWrites } from "./store/jobs/step-fence.ts";
import type { Expired, Expiry } from "./vault/expiry.ts";
import { filesOf } from "./store/buckets/r2.ts";

/**
 * The D1 calls that no part takes from the shared ones, because they do not depend on how much is due: of the logs 2, of the archive 1, of
 * deleted vaults 1, of due vaults 1, of jobs 1, of root keys 2, of contents 2, of the newest backup 2, of damages
 * 1, of the counts 1.
 */
const UNSHARED_D1_CALLS = 14;

/**
 * The hourly task of the cron trigger: archives or deletes what is past its retention, and deletes the rows of deleted vaults; ends expired
 * tokens, sessions and codes; lets coordinators expire deleted Items and
 * versions, and watch contents without a row; stores the proof of the active root key; begins the
 * nightly backup, and looks for the newest one. In: Unix milliseconds. Each part runs even when another one fails; throws when one failed,
 * so that the run shows as failed. A malformed setting fails the part that needs a setting. The parts share the D1 calls of the invocation;
 * the next run continues.
 */
export async function cleanUp(env: Env, now: number): Promise<void> {
  const take = shareCalls(INVOCATION_CALLS_MAX - UNSHARED_D1_CALLS);
  const parts = await Promise.allSettled<Counts | void>([
    deleteOldRecords(env.DB, now, take).then((count) => ({ idempotency_record: count })),
    cleanLog(env, now, take),
    cleanArchive(env, now),
    moveExpiredTokens(env.DB, now, take).then((count) => ({ token: count })),
    deleteExpiredSessions(env.DB, now, take).then((count) => ({ session: count })),
    deleteRowsOfDeletedVaults(env.DB, take),
    expireVaults(env, now),
    recordKeys(env, now),
    startBackup(env, now),
    checkNewestBackup(env, now),
    forgetDamages(env.DB, now),
    forgetWrites(env.DB, now),
    watchContents(env, now),
  ]);
  await recordCounts(env.DB, Object.assign({}, ...parts.map((part) => (part.status === "fulfilled" ? part.value : {}))));
  const failed = parts.find((part) => part.status === "rejected");
  if (failed) throw failed.reason;
}

async function cleanLog(env: Env, now: number, take: Take): Promise<Counts> {
  const [db, files] = [env.DB, filesOf(env)];
  const { activityRetention, activityArchive } = settingsOf(env);
  const before = now - activityRetention;
  const archives = activityArchive > activityRetention;
  // Beside each other, so that neither uses up the calls of the other, or stops with it.
  const parts = await Promise.allSettled([
    archives ? archiveOldActivity(db, files, before, take) : deleteOldActivity(db, before, take),
    removeOldSegments(db, archives ? files : undefined, before, take),
  ]);
  for (const part of parts) if (part.status === "rejected") throw part.reason;
  const removed = parts.reduce((sum, part) => sum + (part.status === "fulfilled" ? part.value : 0), 0);
  await forgetLogs(db);
  return { log_entry: removed, log_entry_archived: archives ? removed : 0 };
}

async function cleanArchive(env: Env, now: number): Promise<Counts> {
  const { activityRetention, activityArchive } = settingsOf(env);
  const before = now - Math.max(activityRetention, activityArchive);
  const deleted = await deleteOldArchives(filesOf(env), before);
  if (deleted > 0) await forgetDays(env.DB, before);
  return { archive_object: deleted };
}

/** So that a key that goes missing later can be named, also by who has never listed the keys. */
async function recordKeys(env: Env, now: number): Promise<void> {
  must("record the root keys", await recordRootKeys(must("open the store", await openStore(env, now))));
}

/** The most calls of coordinators in a run: on the free plan an invocation makes at most 50 calls in all. */
const COORDINATOR_CALLS_MAX = 20;

/**
 * Lets the coordinators of some vaults expire deleted Items and versions, as far as the calls of a run suffice; the next run
 * continues. No coordinator is called again before each of them was called, so that a large vault does not hold up the others.
 * Throws when D1 or one of the coordinators failed.
 */
async function expireVaults(env: Env, now: number): Promise<Counts> {
  const due = await findDueVaults(env.DB, settingsOf(env), now);
  const waiting: Expiry[] = Array.from(due, (vault) => ({ ...vault, after: "" }));
  let failures = 0;
  const counts = { item: 0, version: 0 };
  for (let calls = 0; calls < COORDINATOR_CALLS_MAX && waiting.length > 0; calls++) {
    const expiry = waiting.shift()!;
    const answer: Result<string | undefined> & Expired = await callExpire(env, expiry);
    counts.item += answer.items ?? 0;
    counts.version += answer.versions ?? 0;
    if (!answer.ok) failures++;
    else if (answer.value !== undefined) waiting.push({ ...expiry, after: answer.value });
  }
  if (failures > 0) throw new Error("a coordinator could not expire Items");
  return counts;
}

async function callExpire(env: Env, expiry: Expiry): Promise<Result<string | undefined> & Expired> {
  try {
    return await env.COORDINATOR.getByName(expiry.vault).expire(expiry);
  } catch (error) {
    logFailure("A call to a coordinator", error);
    return fail("unavailable");
  }
}

/** Lets coordinators sweep contents that have no row. */
async function watchContents(env: Env, now: number): Promise<Counts> {
  const found = await findContentsWithoutRow(env.DB, filesOf(env), now, (vault, keys) =>
    env.COORDINATOR.getByName(vault).watchContents(keys),
  );
  return { content_without_row: found };
}

/** Throws when a setting is malformed. */
const settingsOf = (env: Env): Settings => must("read the settings", parseSettings(env));
