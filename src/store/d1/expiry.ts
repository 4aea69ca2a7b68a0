import { must } from "../../model/result.ts";
import type { Take } from "./calls.ts";
import { runBatch } from "./database.ts";

/**
 * Deletes rows that are too old, in slices: the statement deletes at most a thousand rows and returns one row for each.
 * In: the statement, the first id that is kept, and what gives a call for each slice. Out: how many were deleted. For the cron trigger:
 * throws when D1 fails, so that the run shows as failed.
 */
export async function deleteExpired(db: D1Database, statement: string, oldest: string | number, take: Take): Promise<number> {
  let count = 0;
  while (take(1)) {
    const [deleted] = must("delete expired rows", await runBatch(db, db.prepare(statement).bind(oldest)));
    if (deleted.length === 0) break;
    count += deleted.length;
  }
  return count;
}
