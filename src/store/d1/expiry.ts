import { must } from "../../model/result.ts";
import { type Take, runBatch } from "./database.ts";

/**
 * Deletes old rows in slices: the statement deletes at most a thousand rows and returns a row for each. `oldest` is the first id
 * that is kept. `take` takes a call for each slice. For the cron trigger: throws if D1 fails, so that the run shows as failed.
 */
export async function deleteExpired(db: D1Database, statement: string, oldest: string | number, take: Take): Promise<void> {
  while (take(1)) {
    const [deleted] = must("delete expired rows", await runBatch(db, db.prepare(statement).bind(oldest)));
    if (deleted.length === 0) break;
  }
}
