const IS_RESTORED = "EXISTS (SELECT 1 FROM restores WHERE vault_id = value)";

const EXISTS = "EXISTS (SELECT 1 FROM vaults WHERE id = value)";

const DELETED = `EXISTS (
  SELECT 1 FROM activity WHERE vault_id = value AND action = 'DELETE' AND item_id IS NULL AND result = 'SUCCESS')`;

const SQL = {
  known: `SELECT value AS vault FROM json_each(?1) WHERE NOT ${IS_RESTORED} AND (${EXISTS} OR ${DELETED})`,
  settled: `SELECT value AS vault FROM json_each(?1) WHERE ${EXISTS} OR (NOT ${IS_RESTORED} AND ${DELETED})`,
};

/**
 * The statement that reads which vaults D1 knows, or whose deletion it knows: `{vault}`. Any other D1 proves nothing about a vault, and
 * nothing proves that a content of one that is being restored is not needed.
 */
export const knownVaults = (db: D1Database, vaults: readonly string[]): D1PreparedStatement =>
  db.prepare(SQL.known).bind(JSON.stringify(vaults));

/** The statement that reads which vaults are there, or were deleted and are not being restored: `{vault}`. */
export const settledVaults = (db: D1Database, vaults: readonly string[]): D1PreparedStatement =>
  db.prepare(SQL.settled).bind(JSON.stringify(vaults));
