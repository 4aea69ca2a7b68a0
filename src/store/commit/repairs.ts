import { COUNT_MAX } from "../../model/limits.ts";
import type { Result } from "../../model/result.ts";
import { runBatch } from "../d1/database.ts";
import { into } from "../tables/statements.ts";
import { type RowOf, TABLES_BY_ROOT_KEY } from "../tables/tables.ts";
import { COUNTED, type CountOfLoss, missesRowsSql } from "../vaults/counted-rows.ts";

/** The statements with which `verify` repairs data that can be computed from other rows (docs/design/backups.md). */

/**
 * SQL: the count after a repair. While rows are missing the count is not changed, unless the loss is accepted (?2): only the count shows
 * how many are missing.
 */
const leaving = (name: CountOfLoss): string =>
  `CASE WHEN NOT ?2 AND vaults.${name} <= ${COUNT_MAX} AND ${missesRowsSql(name, `counted.${name}`)} THEN vaults.${name} ELSE counted.${name} END`;

/** SQL: a count that cannot be computed from rows, which stays; 0 replaces a damaged count. */
const possible = (name: string): string => `CASE WHEN ${name} BETWEEN 0 AND ${COUNT_MAX} THEN ${name} ELSE 0 END`;

const USES = TABLES_BY_ROOT_KEY.map(({ name }) => name as Exclude<keyof RowOf<"root_key_uses">, "id">);

/**
 * Returns SQL for the count of rows under a root key after a repair. The count falls only if a loss is accepted, or if the count is
 * impossible.
 */
const leavingUses = (name: string): string =>
  `CASE WHEN NOT ?2 AND ${name} BETWEEN excluded.${name} AND ${COUNT_MAX} THEN ${name} ELSE excluded.${name} END`;

const SQL = {
  indexes: `
    UPDATE items SET title_index = ?4, folded_index = ?5
    WHERE vault_id = ?1 AND id = ?2 AND version = ?3 AND overview = ?6`,
  vault: `
    UPDATE vaults SET (items, deleted, created, files, file_bytes, sealed_bytes, versions_kept) = (
      SELECT ${leaving("items")}, ${leaving("deleted")}, max(${possible("vaults.created")}, counted.items + counted.deleted),
        ${leaving("files")}, ${leaving("file_bytes")}, counted.sealed_bytes, counted.versions_kept
      FROM (${COUNTED}) AS counted), restored = ${possible("restored")}, destroyed = ${possible("destroyed")}
    WHERE id = ?1`,
  uses: `
    INSERT ${into("root_key_uses", ["id", ...USES])}
    VALUES (?1, ${USES.map((name) => `(SELECT count(*) FROM ${name} WHERE root_key_id = ?1)`).join(", ")})
    ON CONFLICT (id) DO UPDATE SET ${USES.map((name) => `${name} = ${leavingUses(name)}`).join(", ")}`,
};

/** Writes the indexes of a title, if the row has not changed since it was read. */
export const repairIndexes = (
  db: D1Database,
  vault: string,
  { id, version, overview }: { readonly id: string; readonly version: number; readonly overview: string },
  { title_index, folded_index }: { readonly title_index: string; readonly folded_index: string },
): D1PreparedStatement => db.prepare(SQL.indexes).bind(vault, id, version, title_index, folded_index, overview);

/** Returns the statement that recounts the uses of a root key. Counts are lowered to the number of rows only with `acceptLoss`. */
export const recountUses = (db: D1Database, key: string, acceptLoss: boolean): D1PreparedStatement =>
  db.prepare(SQL.uses).bind(key, Number(acceptLoss));

/**
 * Returns the statement that recounts the rows of a vault. Counts of Items and Files are lowered to the number of rows only with
 * `acceptLoss`.
 */
export const recount = (db: D1Database, vault: string, acceptLoss = false): D1PreparedStatement =>
  db.prepare(SQL.vault).bind(vault, Number(acceptLoss));

/**
 * Recounts the rows of a vault. Its coordinator calls this between two commits and empties its cache afterwards, because a commit computes
 * its counters from the counters that it read. Fails with `unavailable`.
 */
export const recountVault = (db: D1Database, vault: string, acceptLoss: boolean): Promise<Result<unknown>> =>
  runBatch(db, recount(db, vault, acceptLoss));
