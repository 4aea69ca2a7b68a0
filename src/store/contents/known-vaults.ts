import { hasDeletion } from "../activity/entry-rows.ts";

const IS_RESTORED = "EXISTS (SELECT 1 FROM restores WHERE vault_id = value)";

const EXISTS = "EXISTS (SELECT 1 FROM vaults WHERE id = value)";

const SQL = `SELECT value AS vault FROM json_each(?1) WHERE ${EXISTS} OR (NOT ${IS_RESTORED} AND ${hasDeletion("value")})`;

/**
 * Returns the statement that reads which vaults D1 knows: `{vault}`. D1 knows a vault when it has its row or its deletion. When it does not know
 * the vault, or a restore has deleted the row, missing rows prove nothing about the contents of the vault. Before that, a restore does not
 * rely on FILES, because its last phase copies the contents that FILES lacks.
 */
export const knownVaults = (db: D1Database, vaults: readonly string[]): D1PreparedStatement =>
  db.prepare(SQL).bind(JSON.stringify(vaults));
