import { ok, type Result } from "../../model/result.ts";
import { runBatch } from "./database.ts";

/** Whether the database was ever used. */

/** SQL: whether the deployment has or had vaults or tokens. */
export const IN_USE =
  "(EXISTS (SELECT 1 FROM vaults) OR EXISTS (SELECT 1 FROM tokens) " +
  "OR EXISTS (SELECT 1 FROM ended_tokens) OR EXISTS (SELECT 1 FROM past_writes))";

/** Errors: `unavailable`. */
export async function isInUse(db: D1Database): Promise<Result<boolean>> {
  const read = await runBatch<[{ used: number }]>(db, db.prepare(`SELECT ${IN_USE} AS used`));
  return read.ok ? ok(read.value[0][0]!.used === 1) : read;
}
