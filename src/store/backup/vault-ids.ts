import { ok, type Result } from "../../model/result.ts";
import { runBatch } from "../d1/database.ts";

/** The ids of the next vaults, in their order. Errors: `unavailable`. */
export async function listVaultIds(db: D1Database, after: string, limit: number): Promise<Result<string[]>> {
  const sql = "SELECT id FROM vaults WHERE id > ?1 ORDER BY id LIMIT ?2";
  const read = await runBatch<[{ id: string }]>(db, db.prepare(sql).bind(after, limit));
  return read.ok ? ok(read.value[0].map(({ id }) => id)) : read;
}
