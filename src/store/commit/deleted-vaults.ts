import { LISTED_VAULTS_MAX } from "../../model/job.ts";
import { map, ok, type Result } from "../../model/result.ts";
import { runBatch } from "../d1/database.ts";
import { deleteSliceOfVault, hasRowsOfVault } from "../tables/slices.ts";
import { into } from "../tables/statements.ts";
import { TABLES_OF_VAULT } from "../tables/tables.ts";

/**
 * Deletes the rows of deleted vaults, in slices. The commit of a deletion deletes the vault's row with its keys and records the vault in
 * `deleted_vaults`. From then on its other rows are not served and cannot be decrypted. A slice deletes nothing if the vault has a row: the
 * database was restored to a time before the deletion, or the vault is being restored.
 */

/** Limits of one D1 call for each table: rows, and the approximate bytes of their sealed texts. */
export const SLICE_MAX = { rows: 100, bytes: 8 * 1024 * 1024 };

/** SQL: true if a vault has neither its row nor a running restore. */
const isGone = (vault: string): string =>
  `NOT EXISTS (SELECT 1 FROM vaults WHERE id = ${vault}) AND NOT EXISTS (SELECT 1 FROM restores WHERE vault_id = ${vault})`;

const IS_DELETED = `${isGone("?1")} AND EXISTS (SELECT 1 FROM deleted_vaults WHERE id = ?1)`;

const SQL = {
  slices: TABLES_OF_VAULT.map((table) => deleteSliceOfVault(table, SLICE_MAX, IS_DELETED)),
  finish: `DELETE FROM deleted_vaults WHERE id = ?1 AND NOT (${hasRowsOfVault(TABLES_OF_VAULT)})`,
  unfinished: `SELECT 1 FROM deleted_vaults WHERE ${IS_DELETED}`,
  // Vaults are listed in the order of their deletions, so that a job also finds vaults that are deleted while it runs.
  list: `
    SELECT vault, place FROM (SELECT id AS vault, deleted_at || ' ' || id AS place FROM deleted_vaults)
    WHERE place > ?1 AND ${isGone("vault")}
    ORDER BY place LIMIT ${LISTED_VAULTS_MAX}`,
};

export interface DeletedVault {
  readonly vault: string;
  /** The position in the order of deletions. */
  readonly place: string;
}

/** Returns the statement that records the deletion of a vault, for the batch that deletes its row. `now` is in Unix milliseconds. */
export const recordDeletion = (db: D1Database, vault: string, now: number): D1PreparedStatement =>
  db.prepare(`INSERT ${into("deleted_vaults")} VALUES (?1, ?2) ON CONFLICT (id) DO NOTHING`).bind(vault, now);

/**
 * Returns some of the deleted vaults with remaining rows, in the order of their deletions, after the place `after`. Fails with `unavailable`.
 */
export async function listDeletedVaults(db: D1Database, after: string): Promise<Result<DeletedVault[]>> {
  return map(await runBatch<[DeletedVault]>(db, db.prepare(SQL.list).bind(after)), (read) => read[0]);
}

/**
 * Deletes a slice of the rows of a deleted vault. Returns true if rows are left. Has no effect on any other vault. Fails with `unavailable`.
 */
export async function deleteSlice(db: D1Database, vault: string): Promise<Result<boolean>> {
  const statements = [...SQL.slices, SQL.finish, SQL.unfinished];
  const done = await runBatch<unknown[]>(db, ...statements.map((sql) => db.prepare(sql).bind(vault)));
  return done.ok ? ok(done.value.at(-1)!.length > 0) : done;
}
