import type { Settings } from "../settings.ts";
import { deleteOldActivity } from "./activity.ts";
import { deleteOldRecords } from "./write/idempotency.ts";

/**
 * The hourly task of the cron trigger: deletes what is past its retention. In: Unix milliseconds. Each part runs even when
 * another one fails; throws when one failed, so that the run shows as failed.
 */
export async function cleanUp(db: D1Database, now: number, { activityRetention }: Settings): Promise<void> {
  const parts = await Promise.allSettled([deleteOldRecords(db, now), deleteOldActivity(db, now - activityRetention)]);
  const failed = parts.find((part) => part.status === "rejected");
  if (failed) throw failed.reason;
}
