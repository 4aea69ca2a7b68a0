import { fail, ok, type Result } from "../model/result.ts";
import { call } from "./database.ts";
import { report } from "./report.ts";

/** Whether the things that hold the data answer. */

/** Errors: `unavailable`, with what is wrong in words. */
export async function pingDatabase(db: D1Database): Promise<Result<unknown>> {
  const tables = ["root_keys", "tokens", "vaults", "items", "files", "activity", "replays", "past_writes"];
  const statements = tables.map((table) => db.prepare(`SELECT 1 FROM ${table} LIMIT 1`));
  const answered = await call(db, ...statements);
  return answered.ok ? answered : fail("unavailable", "The database does not answer, or schema.sql was not applied to it");
}

/** Errors: `unavailable`, with what is wrong in words. */
export async function pingBucket(bucket: R2Bucket): Promise<Result<unknown>> {
  try {
    return ok(await bucket.head("health")); // there is no such object: every key has slashes
  } catch (error) {
    report("R2", error);
    return fail("unavailable", "The bucket does not answer");
  }
}
