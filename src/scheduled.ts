import { parseSettings, type Settings } from "./settings.ts";
import { deleteOldArchives } from "./store/activity-archive.ts";
import { deleteOldActivity } from "./store/activity-retention.ts";
import { moveExpiredTokens } from "./store/ended-tokens.ts";
import { deleteRowsOfDeletedVaults } from "./store/write/deleted-vaults.ts";
import { foldVaults } from "./store/write/folded-titles.ts";
import { deleteOldRecords } from "./store/write/idempotency.ts";
import { countSealedBytes } from "./store/write/sealed-bytes.ts";

/**
 * The hourly task of the cron trigger: deletes what is past its retention, and the rows of deleted vaults; ends expired tokens;
 * counts the sealed bytes of vaults that are not counted yet; indexes titles that are not indexed yet. In: Unix milliseconds. Each part runs even when
 * another one fails; throws when one failed, so that the run shows as failed. A malformed setting fails the part that
 * needs a setting.
 */
export async function cleanUp(env: Env, now: number): Promise<void> {
  const parts = await Promise.allSettled([
    deleteOldRecords(env.DB, now),
    deleteActivity(env, now),
    deleteArchives(env, now),
    moveExpiredTokens(env.DB, now),
    deleteRowsOfDeletedVaults(env.DB),
    countSealedBytes(env.DB),
    foldVaults(env.DB, (vault) => env.COORDINATOR.getByName(vault).foldTitles(vault)),
  ]);
  const failed = parts.find((part) => part.status === "rejected");
  if (failed) throw failed.reason;
}

const deleteActivity = async (env: Env, now: number): Promise<void> =>
  deleteOldActivity(env.DB, now - requireSettings(env).activityRetention);

const deleteArchives = async (env: Env, now: number): Promise<void> =>
  deleteOldArchives(env.FILES, now - requireSettings(env).activityRetention);

/** Throws when a setting is malformed. */
function requireSettings(env: Env): Settings {
  const settings = parseSettings(env);
  if (!settings.ok) throw new Error(settings.failure.detail);
  return settings.value;
}
