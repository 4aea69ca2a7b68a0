import type { Result } from "../model/result.ts";
import { forgetActivity } from "./activity.ts";
import { forgetReplays } from "./replays.ts";

/**
 * What the cron trigger does every hour: forgets what is too old to be kept. In: Unix milliseconds; for how many days the
 * activity log is kept, where that is set rightly. Each task runs whatever becomes of the others; throws when one failed,
 * so that the run shows as failed.
 */
export async function cleanUp(db: D1Database, now: number, days: Result<number>): Promise<void> {
  const done = await Promise.allSettled([
    forgetReplays(db, now),
    days.ok ? forgetActivity(db, now, days.value) : Promise.reject(new Error(days.failure.detail)),
  ]);
  const failed = done.find((one) => one.status === "rejected");
  if (failed) throw failed.reason;
}
