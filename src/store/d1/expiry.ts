import type { Take } from "./calls.ts";
import { runBatch } from "./database.ts";

/**
 * Deletes rows that are too old, in slices: the statement deletes at most a thousand rows and returns one row for each.
 * In: the statement, the first id that is kept, and what gives a call for each slice. Out: how many were deleted. For the cron trigger:
 * throws when D1 fails, so that the run shows as failed.
 */
export async function deleteExpired(db: D1Database, statement: string, oldest: string, take: Take): Promise<number> {
  let count = 0;
  while (take(1)) {
    const deleted = await runBatch(db, db.prepare(statement).bind(oldest));
    if (!deleted.ok) throw new Error("expired rows could not be deleted");
    if (deleted.value[0].length === 0) break;
    count += deleted.value[0].length;
  }
  return count;
}
