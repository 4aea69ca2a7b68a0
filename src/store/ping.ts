import { fail, ok, type Result } from "../model/result.ts";
import { call } from "./database.ts";
import { report } from "./report.ts";

/** Whether the things that hold the data answer. */

/** Errors: `unavailable`, with what is wrong in words. */
export async function pingDatabase(db: D1Database): Promise<Result<unknown>> {
  // Each with the column that it got last, so that an older schema shows.
  const tables = {
    root_keys: "proof",
    tokens: "expires_at",
    vaults: "file_bytes",
    items: "details",
    files: "sealed",
    activity: "root_key_id",
    replays: "sealed",
    past_writes: "writes",
  };
  const statements = Object.entries(tables).map(([table, column]) => db.prepare(`SELECT ${column} FROM ${table} LIMIT 1`));
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
