import type { Take } from "../d1/calls.ts";
import { runBatch } from "../d1/database.ts";
import { SEALED_BYTES } from "../vaults/counted-rows.ts";

/**
 * Counts the sealed bytes of the vaults that release 0.1.0 created. One statement counts a vault and stores the sum, so no
 * commit can come in between; a later commit adds its difference.
 */

/** Vaults per run of the cron trigger. */
const VAULTS = 10;

const SQL = {
  uncounted: `SELECT id FROM vaults WHERE sealed_bytes IS NULL LIMIT ${VAULTS}`,
  // SQLite reads each row once, with its text: about 0.7 s for 256 MiB on two cores. A D1 query may take 30 s.
  count: `
    UPDATE vaults SET sealed_bytes = ${SEALED_BYTES}
    WHERE id = ?1 AND sealed_bytes IS NULL`,
};

/** Counts some of the vaults that are not counted yet. In: what gives a call for each. For the cron trigger: throws when D1 fails. */
export async function countSealedBytes(db: D1Database, take: Take): Promise<void> {
  const uncounted = await runBatch<[{ id: string }]>(db, db.prepare(SQL.uncounted));
  if (!uncounted.ok) throw new Error("the vaults could not be read");
  for (const { id } of uncounted.value[0]) {
    if (!take(1)) return;
    const counted = await runBatch(db, db.prepare(SQL.count).bind(id));
    if (!counted.ok) throw new Error("a vault could not be counted");
  }
}
