import type { Take } from "../d1/calls.ts";
import { must, ok, type Result } from "../../model/result.ts";
import { runBatch } from "../d1/database.ts";
import { deleteSliceOfVault, hasRowsOfVault } from "../tables/slices.ts";
import { TABLES_OF_VAULT } from "../tables/tables.ts";

/**
 * Deletes the rows of deleted vaults, in slices. The commit of a deletion deletes the row of the vault with its keys and
 * records the vault in `deleted_vaults`: from then on no other row of it is served or can be opened. A slice deletes
 * nothing where the vault has a row, as it has in a database that was restored to a minute before the deletion.
 */

/** The most rows of each table, and about the most bytes of sealed text of each table, that one D1 call deletes. */
export const SLICE_MAX = { rows: 100, bytes: 8 * 1024 * 1024 };

/** The most D1 calls for one vault in one run. */
const VAULT_D1_CALLS_MAX = 10;

/** The most vaults of one run of the cron trigger. */
const RUN_VAULTS_MAX = 2;

const IS_DELETED = "NOT EXISTS (SELECT 1 FROM vaults WHERE id = ?1) AND EXISTS (SELECT 1 FROM deleted_vaults WHERE id = ?1)";

const SQL = {
  slices: TABLES_OF_VAULT.map((table) => deleteSliceOfVault(table, SLICE_MAX, IS_DELETED)),
  finish: `DELETE FROM deleted_vaults WHERE id = ?1 AND NOT (${hasRowsOfVault(TABLES_OF_VAULT)})`,
  unfinished: `SELECT 1 FROM deleted_vaults WHERE ${IS_DELETED}`,
  deleted: `
    SELECT id FROM deleted_vaults WHERE NOT EXISTS (SELECT 1 FROM vaults WHERE vaults.id = deleted_vaults.id)
    ORDER BY deleted_at LIMIT ${RUN_VAULTS_MAX}`,
};

/** The statement that records the deletion of a vault, for the batch that deletes its row. In: Unix milliseconds. */
export const recordDeletion = (db: D1Database, vault: string, now: number): D1PreparedStatement =>
  db.prepare("INSERT INTO deleted_vaults (id, deleted_at) VALUES (?1, ?2) ON CONFLICT (id) DO NOTHING").bind(vault, now);

/**
 * Deletes rows of a deleted vault, slice by slice. In: what gives a call for each slice. Out: whether rows are left. It does nothing for
 * any other vault. Errors: `unavailable`.
 */
export async function deleteRows(db: D1Database, vault: string, take: Take): Promise<Result<boolean>> {
  const statements = [...SQL.slices, SQL.finish, SQL.unfinished];
  for (let call = 0; call < VAULT_D1_CALLS_MAX && take(1); call++) {
    const done = await runBatch<unknown[]>(db, ...statements.map((sql) => db.prepare(sql).bind(vault)));
    if (!done.ok) return done;
    if (done.value.at(-1)!.length === 0) return ok(false);
  }
  return ok(true);
}

/**
 * Continues the deletions that no coordinator has finished. In: what gives the calls after the first one. For the cron trigger: throws
 * when D1 fails.
 */
export async function deleteRowsOfDeletedVaults(db: D1Database, take: Take): Promise<void> {
  const read = await runBatch<[{ id: string }]>(db, db.prepare(SQL.deleted));
  const [deleted] = must("read the deleted vaults", read);
  for (const { id } of deleted) must("delete the rows of a deleted vault", await deleteRows(db, id, take));
}
