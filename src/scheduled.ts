import { parseSettings } from "./settings.ts";
import { deleteOldActivity } from "./store/activity.ts";
import { deleteOldRecords } from "./store/write/idempotency.ts";

/**
 * The hourly task of the cron trigger: deletes what is past its retention. In: Unix milliseconds. Each part runs even when
 * another one fails; throws when one failed, or when a setting is malformed, so that the run shows as failed.
 */
export async function cleanUp(env: Env, now: number): Promise<void> {
  const settings = parseSettings(env);
  if (!settings.ok) throw new Error(settings.failure.detail);
  const parts = await Promise.allSettled([
    deleteOldRecords(env.DB, now),
    deleteOldActivity(env.DB, now - settings.value.activityRetention),
  ]);
  const failed = parts.find((part) => part.status === "rejected");
  if (failed) throw failed.reason;
}
