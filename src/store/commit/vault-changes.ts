import type { VaultRow } from "../vaults/rows.ts";

/** The statements that write the row of a vault. Only commit.ts runs them, behind the fence. */

/** An impossible number counts as 0, as when it is read (vaults/rows.ts). NULL stays: not yet counted. */
const POSSIBLE_BYTES = `CASE WHEN sealed_bytes NOT BETWEEN 0 AND ${Number.MAX_SAFE_INTEGER} THEN 0 ELSE sealed_bytes END`;

const SQL = {
  insertVault: `
    INSERT INTO vaults (id, name, description, attribute_version, content_version, items, created, files, file_bytes, updated_at,
                        quota_items, quota_bytes, quota_file_bytes, deleted, restored, destroyed, sealed_bytes, versions_kept,
                        created_at, root_key_id, keys)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21)`,
  // Neither the sealed bytes nor `versions_kept` are part of the fence: other statements may have changed them since the row was
  // read (repairs.ts, due-items.ts).
  updateVault: `
    UPDATE vaults SET name = ?2, description = ?3, attribute_version = ?4, content_version = ?5, items = ?6, created = ?7,
      files = ?8, file_bytes = ?9, updated_at = ?10, quota_items = ?11, quota_bytes = ?12, quota_file_bytes = ?13,
      deleted = ?14, restored = ?15, destroyed = ?16, sealed_bytes = ${POSSIBLE_BYTES} + ?17, versions_kept = max(versions_kept, ?18)
    WHERE id = ?1`,
};

const WRITE_KEYS = "UPDATE vaults SET root_key_id = ?2, keys = ?3, resealed = NULL WHERE id = ?1";

const stateOf = (row: VaultRow): unknown[] => {
  const named = [row.id, row.name, row.description];
  const versions = [row.attribute_version, row.content_version];
  const counts = [row.items, row.created, row.files, row.file_bytes];
  const quotas = [row.quota_items, row.quota_bytes, row.quota_file_bytes];
  return [...named, ...versions, ...counts, row.updated_at, ...quotas, row.deleted, row.restored, row.destroyed];
};

/** In: the row of a new vault, the bytes of its sealed texts, and the most earlier versions that one of its Items keeps. */
export function insertVault(db: D1Database, row: VaultRow, sealedBytes: number, kept: number): D1PreparedStatement {
  return db.prepare(SQL.insertVault).bind(...stateOf(row), sealedBytes, kept, row.created_at, row.root_key_id, row.keys);
}

/**
 * In: the row after the commit, by how many bytes its sealed texts grow, and the most earlier versions that one of the written
 * Items keeps.
 */
export const updateVault = (db: D1Database, row: VaultRow, sealedGrowth: number, kept: number): D1PreparedStatement =>
  db.prepare(SQL.updateVault).bind(...stateOf(row), sealedGrowth, kept);

/** Writes the list of keys of a vault that has a new one, in a commit that increments `attribute_version`. In: the row after the commit. */
export const writeKeys = (db: D1Database, row: VaultRow): D1PreparedStatement =>
  db.prepare(WRITE_KEYS).bind(row.id, row.root_key_id, row.keys);
