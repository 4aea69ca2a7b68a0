import { startBackups } from "./jobs.ts";
import { logFailure } from "./log.ts";
import { fail, ok, type Result } from "./model/result.ts";
import { parseSettings, type Settings } from "./settings.ts";
import { deleteOldArchives } from "./store/activity-archive.ts";
import { deleteOldActivity } from "./store/activity-retention.ts";
import { findDueVaults } from "./store/due-vaults.ts";
import { moveExpiredTokens } from "./store/ended-tokens.ts";
import { deleteRowsOfDeletedVaults } from "./store/write/deleted-vaults.ts";
import { foldVaults } from "./store/write/folded-titles.ts";
import { deleteOldRecords } from "./store/write/idempotency.ts";
import { countSealedBytes } from "./store/write/sealed-bytes.ts";
import type { Expiry } from "./vault/expiry.ts";

/**
 * The hourly task of the cron trigger: deletes what is past its retention, and the rows of deleted vaults; ends expired tokens;
 * counts the sealed bytes of vaults that are not counted yet; lets coordinators expire deleted Items and versions, and index titles
 * that are not indexed yet; begins the nightly backup. In: Unix milliseconds. Each part runs even when another one fails; throws when one failed, so that the
 * run shows as failed. A malformed setting fails the part that needs a setting.
 */
export async function cleanUp(env: Env, now: number): Promise<void> {
  const parts = await Promise.allSettled([
    deleteOldRecords(env.DB, now),
    deleteActivity(env, now),
    deleteArchives(env, now),
    moveExpiredTokens(env.DB, now),
    deleteRowsOfDeletedVaults(env.DB, now),
    countSealedBytes(env.DB),
    expireVaults(env, now),
    startBackups(env, now),
    foldVaults(env.DB, (vault) => env.COORDINATOR.getByName(vault).foldTitles(vault)),
  ]);
  const failed = parts.find((part) => part.status === "rejected");
  if (failed) throw failed.reason;
}

const deleteActivity = async (env: Env, now: number): Promise<void> =>
  deleteOldActivity(env.DB, now - requireSettings(env).activityRetention);

const deleteArchives = async (env: Env, now: number): Promise<void> =>
  deleteOldArchives(env.FILES, now - requireSettings(env).activityRetention);

/** Calls of coordinators per run: on the free plan an invocation makes at most 50 calls in all. */
const CALLS = 20;

/**
 * Lets the coordinators of some vaults expire deleted Items and versions, as far as the calls of a run suffice; the next run
 * continues. No coordinator is called again before each of them was called, so that a large vault does not hold up the others.
 * Throws when D1 or one of the coordinators failed.
 */
async function expireVaults(env: Env, now: number): Promise<void> {
  const due = await findDueVaults(env.DB, requireSettings(env), now);
  const waiting: Expiry[] = Array.from(due, (vault) => ({ ...vault, after: "" }));
  let failures = 0;
  for (let calls = 0; calls < CALLS && waiting.length > 0; calls++) {
    const expiry = waiting.shift()!;
    const answer = await callExpire(env, expiry);
    if (!answer.ok) failures++;
    else if (answer.value !== undefined) waiting.push({ ...expiry, after: answer.value });
  }
  if (failures > 0) throw new Error("a coordinator could not expire Items");
}

async function callExpire(env: Env, expiry: Expiry): Promise<Result<string | undefined>> {
  try {
    return await env.COORDINATOR.getByName(expiry.vault).expire(expiry);
  } catch (error) {
    // During a deployment the coordinator may be of release 0.2.0: a later run finds the vault again.
    if (/does not implement/.test(String(error))) return ok(undefined);
    logFailure("A call to a coordinator", error);
    return fail("unavailable");
  }
}

/** Throws when a setting is malformed. */
function requireSettings(env: Env): Settings {
  const settings = parseSettings(env);
  if (!settings.ok) throw new Error(settings.failure.detail);
  return settings.value;
}
