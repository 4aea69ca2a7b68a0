const IS_RESTORED = "EXISTS (SELECT 1 FROM restores WHERE vault_id = value)";

const EXISTS = "EXISTS (SELECT 1 FROM vaults WHERE id = value)";

const DELETED = `EXISTS (
  SELECT 1 FROM activity WHERE vault_id = value AND action = 'DELETE' AND item_id IS NULL AND result = 'SUCCESS')`;

const SQL = `SELECT value AS vault FROM json_each(?1) WHERE ${EXISTS} OR (NOT ${IS_RESTORED} AND ${DELETED})`;

/**
 * The statement that reads which vaults D1 has, or has the deletion of: `{vault}`. Any other D1 proves nothing about a vault, nor does one
 * from which a restore has removed the vault. Before that a restore needs no content of FILES: it copies those that it lacks at its end.
 */
export const knownVaults = (db: D1Database, vaults: readonly string[]): D1PreparedStatement =>
  db.prepare(SQL).bind(JSON.stringify(vaults));
