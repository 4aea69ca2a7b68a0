const KNOWN = `
  SELECT value AS vault FROM json_each(?1)
  WHERE EXISTS (SELECT 1 FROM vaults WHERE id = value)
     OR (NOT EXISTS (SELECT 1 FROM restores WHERE vault_id = value)
       AND EXISTS (
         SELECT 1 FROM activity
         WHERE vault_id = value AND action = 'DELETE' AND item_id IS NULL AND result = 'SUCCESS'))`;

/**
 * The statement that reads which vaults D1 knows, or whose deletion it knows: `{vault}`. Any other D1 proves nothing about a vault, and
 * neither does the deletion of one that is being restored.
 */
export const knownVaults = (db: D1Database, vaults: readonly string[]): D1PreparedStatement =>
  db.prepare(KNOWN).bind(JSON.stringify(vaults));
