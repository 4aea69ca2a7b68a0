import { map, type Result } from "../../model/result.ts";
import { runBatch } from "./database.ts";

/** The id of the deployment, and whether the database was ever used. */

/** SQL: the id of the deployment, in the form that a migration gives it; NULL when its row is lost or damaged. */
export const DEPLOYMENT_ID = "(SELECT id FROM deployment WHERE length(id) = 32 AND id NOT GLOB '*[^0-9a-f]*')";

/** SQL: the same as a row `{id}`. */
export const SELECT_DEPLOYMENT = `SELECT ${DEPLOYMENT_ID} AS id`;

/** The report of a lost row in /health and `verify`. */
export const DEPLOYMENT_LOST =
  "the row of the table deployment is lost or damaged: replace it by one with the id that the newest manifest of BACKUPS has";

/** SQL: true if the deployment has or had vaults or tokens. */
export const IN_USE =
  "(EXISTS (SELECT 1 FROM vaults) OR EXISTS (SELECT 1 FROM tokens) " +
  "OR EXISTS (SELECT 1 FROM ended_tokens) OR EXISTS (SELECT 1 FROM past_writes))";

/** Fails with `unavailable`. */
export async function isInUse(db: D1Database): Promise<Result<boolean>> {
  return map(await runBatch<[{ used: number }]>(db, db.prepare(`SELECT ${IN_USE} AS used`)), (read) => read[0][0]!.used === 1);
}
