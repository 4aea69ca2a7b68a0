import { ok, type Result } from "../../model/result.ts";
import { runBatch } from "../d1/database.ts";

/** Which vaults the deployment has. */

const SQL = {
  list: `
    SELECT id FROM vaults WHERE id > ?1 AND id NOT IN (SELECT value FROM json_each(?2))
    ORDER BY id LIMIT ?3`,
  count: "SELECT count(*) AS vaults FROM vaults",
};

interface Wanted {
  /** The id after which they begin. */
  readonly after: string;
  /** The ids of those that are left out. */
  readonly without: readonly string[];
  readonly limit: number;
}

/** The ids of the next vaults, in their order. Errors: `unavailable`. */
export async function listVaultIds(db: D1Database, { after, without, limit }: Wanted): Promise<Result<string[]>> {
  const read = await runBatch<[{ id: string }]>(db, db.prepare(SQL.list).bind(after, JSON.stringify(without), limit));
  return read.ok ? ok(read.value[0].map(({ id }) => id)) : read;
}

/** Errors: `unavailable`. */
export async function countVaults(db: D1Database): Promise<Result<number>> {
  const read = await runBatch<[{ vaults: number }]>(db, db.prepare(SQL.count));
  return read.ok ? ok(read.value[0][0]!.vaults) : read;
}
