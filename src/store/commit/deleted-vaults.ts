import { LISTED_VAULTS_MAX } from "../../model/job.ts";
import { ok, type Result } from "../../model/result.ts";
import { runBatch } from "../d1/database.ts";
import { deleteSliceOfVault, hasRowsOfVault } from "../tables/slices.ts";
import { TABLES_OF_VAULT } from "../tables/tables.ts";
import { into } from "../tables/statements.ts";

/**
 * Deletes the rows of deleted vaults, in slices. The commit of a deletion deletes the row of the vault with its keys and
 * records the vault in `deleted_vaults`: from then on no other row of it is served or can be opened. A slice deletes
 * nothing where the vault has a row, as it has in a database that was restored to a minute before the deletion, or is being restored.
 */

/** The most rows of each table, and about the most bytes of sealed text of each table, that one D1 call deletes. */
export const SLICE_MAX = { rows: 100, bytes: 8 * 1024 * 1024 };

/** SQL: whether a vault has neither its row nor a restore that has begun. */
const isGone = (vault: string): string =>
  `NOT EXISTS (SELECT 1 FROM vaults WHERE id = ${vault}) AND NOT EXISTS (SELECT 1 FROM restores WHERE vault_id = ${vault})`;

const IS_DELETED = `${isGone("?1")} AND EXISTS (SELECT 1 FROM deleted_vaults WHERE id = ?1)`;

const SQL = {
  slices: TABLES_OF_VAULT.map((table) => deleteSliceOfVault(table, SLICE_MAX, IS_DELETED)),
  finish: `DELETE FROM deleted_vaults WHERE id = ?1 AND NOT (${hasRowsOfVault(TABLES_OF_VAULT)})`,
  unfinished: `SELECT 1 FROM deleted_vaults WHERE ${IS_DELETED}`,
  // The order is that of the deletions, so that a job also finds the vaults that are deleted while it runs.
  list: `
    SELECT vault, place FROM (SELECT id AS vault, deleted_at || ' ' || id AS place FROM deleted_vaults)
    WHERE place > ?1 AND ${isGone("vault")}
    ORDER BY place LIMIT ${LISTED_VAULTS_MAX}`,
};

export interface DeletedVault {
  readonly vault: string;
  /** Where it comes in the order of the deletions. */
  readonly place: string;
}

/** The statement that records the deletion of a vault, for the batch that deletes its row. In: Unix milliseconds. */
export const recordDeletion = (db: D1Database, vault: string, now: number): D1PreparedStatement =>
  db.prepare(`INSERT ${into("deleted_vaults")} VALUES (?1, ?2) ON CONFLICT (id) DO NOTHING`).bind(vault, now);

/** Out: some of the deleted vaults whose rows are not all deleted, in the order of their deletions, after one. Errors: `unavailable`. */
export async function listDeletedVaults(db: D1Database, after: string): Promise<Result<DeletedVault[]>> {
  const read = await runBatch<[DeletedVault]>(db, db.prepare(SQL.list).bind(after));
  return read.ok ? ok(read.value[0]) : read;
}

/** Deletes a slice of the rows of a deleted vault. Out: whether rows are left. It does nothing for any other vault. Errors: `unavailable`. */
export async function deleteSlice(db: D1Database, vault: string): Promise<Result<boolean>> {
  const statements = [...SQL.slices, SQL.finish, SQL.unfinished];
  const done = await runBatch<unknown[]>(db, ...statements.map((sql) => db.prepare(sql).bind(vault)));
  return done.ok ? ok(done.value.at(-1)!.length > 0) : done;
}
