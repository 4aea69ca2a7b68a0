import { NOWHERE } from "../crypto/seal.ts";
import { firstIdAt } from "../model/ids.ts";
import { IS_COUNTED } from "./activity-insert.ts";
import { runBatch } from "./database.ts";

/** Deletes the entries of the activity log that are past their retention, and keeps the counts of `logs` right. */

interface Key {
  readonly log: string;
  readonly id: string;
}

const KEYS = "SELECT value ->> 'log' AS log, value ->> 'id' AS id FROM json_each(?1)";

const SQL = {
  // Log by log, because the key begins with the log: else SQLite would read every row.
  old: `
    WITH RECURSIVE logs (log) AS (
      SELECT min(vault_id) FROM activity
      UNION ALL SELECT (SELECT min(vault_id) FROM activity WHERE vault_id > log) FROM logs WHERE log IS NOT NULL)
    SELECT log, id FROM logs JOIN activity ON vault_id = log AND id < ?1
    WHERE NOT (action = 'DELETE' AND item_id IS NULL AND result = 'SUCCESS') LIMIT 1000`,
  count: `
    UPDATE logs SET entries = max(0, entries - deleted)
    FROM (
      SELECT log, count(*) AS deleted FROM (${KEYS}) AS old JOIN activity ON vault_id = old.log AND activity.id = old.id
      WHERE ${IS_COUNTED} AND old.id > (SELECT trimmed FROM logs WHERE logs.vault_id = old.log)
      GROUP BY log)
    WHERE vault_id = log`,
  delete: `DELETE FROM activity WHERE (vault_id, id) IN (${KEYS})`,
  // The log of a deleted vault keeps one entry, the deletion.
  forget: `
    DELETE FROM logs
    WHERE vault_id <> '${NOWHERE}' AND NOT EXISTS (SELECT 1 FROM vaults WHERE id = logs.vault_id)
      AND NOT EXISTS (SELECT 1 FROM tokens WHERE id = logs.vault_id)
      AND (SELECT count(*) FROM (SELECT 1 FROM activity WHERE activity.vault_id = logs.vault_id LIMIT 2)) < 2`,
};

/**
 * Deletes the entries before a time (Unix milliseconds), except the deletions of vaults: these ids are never issued again.
 * For the cron trigger: throws when D1 fails, so that the run shows as failed.
 */
export async function deleteOldActivity(db: D1Database, before: number): Promise<void> {
  for (;;) {
    const old = await run<[Key]>(db, db.prepare(SQL.old).bind(firstIdAt(before)));
    if (old[0].length === 0) break;
    const keys = JSON.stringify(old[0]);
    await run(db, db.prepare(SQL.count).bind(keys), db.prepare(SQL.delete).bind(keys));
  }
  await run(db, db.prepare(SQL.forget));
}

async function run<Rows extends unknown[]>(
  ...call: Parameters<typeof runBatch<Rows>>
): Promise<{ [K in keyof Rows]: Rows[K][] }> {
  const done = await runBatch<Rows>(...call);
  if (!done.ok) throw new Error("expired rows could not be deleted");
  return done.value;
}
