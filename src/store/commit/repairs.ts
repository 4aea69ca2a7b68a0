import type { Result } from "../../model/result.ts";
import { counterOf, IS_COUNTED } from "../activity/insert.ts";
import { COUNTED, missesRowsSql } from "../vaults/counted-rows.ts";
import { runBatch } from "../d1/database.ts";
import { TABLES_BY_ROOT_KEY } from "../tables/tables.ts";

/** The statements by which `verify` repairs what can be computed again from other rows (decision 0035). */

/** SQL: the count of a kind of Items. While rows are missing it stays, unless the loss is accepted (?2): nothing else tells how many. */
const leaving = (name: "items" | "deleted"): string =>
  `CASE WHEN NOT ?2 AND ${missesRowsSql(name, `counted.${name}`)} THEN vaults.${name} ELSE counted.${name} END`;

const USES = TABLES_BY_ROOT_KEY.map(({ name }) => name);

const SQL = {
  indexes: `
    UPDATE items SET title_index = ?4, folded_index = ?5
    WHERE vault_id = ?1 AND id = ?2 AND version = ?3 AND overview = ?6`,
  vault: `
    UPDATE vaults SET (items, deleted, created, files, file_bytes, sealed_bytes, versions_kept) = (
      SELECT ${leaving("items")}, ${leaving("deleted")}, max(vaults.created, counted.items + counted.deleted), counted.files,
        counted.file_bytes, counted.sealed_bytes, max(vaults.versions_kept, counted.versions_kept)
      FROM (${COUNTED}) AS counted)
    WHERE id = ?1`,
  uses: `
    INSERT INTO root_key_uses (id, ${USES.join(", ")})
    VALUES (?1, ${USES.map((name) => `(SELECT count(*) FROM ${name} WHERE root_key_id = ?1)`).join(", ")})
    ON CONFLICT (id) DO UPDATE SET ${USES.map((name) => `${name} = excluded.${name}`).join(", ")}`,
  log: `
    UPDATE logs SET entries = (
      SELECT count(*) FROM activity
      WHERE vault_id = ?1 AND id > logs.trimmed AND ${IS_COUNTED} AND ${counterOf("?1")} = ?2)
    WHERE vault_id = ?2`,
  deletion: `
    INSERT INTO deleted_vaults (id, deleted_at) SELECT ?1, ?2
    WHERE NOT EXISTS (SELECT 1 FROM vaults WHERE id = ?1) AND NOT EXISTS (SELECT 1 FROM restores WHERE vault_id = ?1)
    ON CONFLICT (id) DO NOTHING`,
};

/** Writes the indexes of a title, while the row is the one that was read. */
export const repairIndexes = (
  db: D1Database,
  vault: string,
  { id, version, overview }: { readonly id: string; readonly version: number; readonly overview: string },
  { title_index, folded_index }: { readonly title_index: string; readonly folded_index: string },
): D1PreparedStatement => db.prepare(SQL.indexes).bind(vault, id, version, title_index, folded_index, overview);

/** Counts the uses of a root key again. */
export const recountUses = (db: D1Database, key: string): D1PreparedStatement => db.prepare(SQL.uses).bind(key);

/** Counts the entries of a log again that one of its counts has. In: the name of the count in `logs`. */
export const recountLog = (db: D1Database, log: string, counter: string): D1PreparedStatement =>
  db.prepare(SQL.log).bind(log, counter);

/** Lists a vault as deleted, so that its rows are (deleted-vaults.ts), unless it exists or is being restored. In: Unix milliseconds. */
export const relistDeletion = (db: D1Database, vault: string, now: number): D1PreparedStatement =>
  db.prepare(SQL.deletion).bind(vault, now);

/**
 * The statement that counts the rows of a vault again. In: whether the loss of Items is accepted, so that their counts are those of the
 * rows.
 */
export const recount = (db: D1Database, vault: string, acceptLoss = false): D1PreparedStatement =>
  db.prepare(SQL.vault).bind(vault, Number(acceptLoss));

/**
 * Counts the rows of a vault again. For its coordinator, between two commits and with an empty cache afterwards: a commit writes
 * the counters that it computed from those that it read. Errors: `unavailable`.
 */
export const recountVault = (db: D1Database, vault: string, acceptLoss: boolean): Promise<Result<unknown>> =>
  runBatch(db, recount(db, vault, acceptLoss));
