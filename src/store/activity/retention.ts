import type { Take } from "../d1/calls.ts";
import { NOWHERE } from "../../crypto/seal.ts";
import { timePrefix } from "../../model/ids.ts";
import { counterOf, IS_COUNTED } from "./insert.ts";
import { runBatch } from "../d1/database.ts";

/** Deletes the entries of the activity log that are past their retention, and keeps the counts of `logs` right. */

/** The key of an entry. */
export interface EntryKey {
  readonly log: string;
  readonly id: string;
}

const KEYS = "SELECT value ->> 0 AS log, value ->> 1 AS id FROM json_each(?1)";

/** The table `logs` of all logs that have entries: each is found by one step in the primary key. */
export const ALL_LOGS = `
  WITH RECURSIVE logs (log) AS (
    SELECT min(vault_id) FROM activity
    UNION ALL SELECT (SELECT min(vault_id) FROM activity WHERE vault_id > log) FROM logs WHERE log IS NOT NULL)`;

/**
 * A condition on a row of `activity`: its id begins with a time, as `timePrefix` writes it. The id of a damaged row may not: it belongs to
 * no day, so it is neither archived nor exported, and holds up none of the others. `verify` names it.
 */
export const HAS_DAY = `
  (substr(id, 9, 1) = '-' AND length(replace(substr(id, 1, 13), '-', '')) = 12 AND id NOT GLOB '*[^0-9a-f-]*')`;

/** A condition on a row of `activity`: not the deletion of a vault, which is kept, so that its id is never issued again. */
export const LEAVES = "NOT (action = 'DELETE' AND item_id IS NULL AND result = 'SUCCESS')";

/** SQL: the row of `logs` with the number of the last write of a log that is past the retention: `verify` misses no later one. */
export const expiredOf = (log: string): string => `${log} || '/expired'`;

/** The log of a row in `logs`: a UUID, after which the name of a count may follow. */
export const LOG = "substr(logs.vault_id, 1, 36)";

const SQL = {
  // Log by log, because the key begins with the log: else SQLite would read every row.
  old: `${ALL_LOGS} SELECT log, id FROM logs CROSS JOIN activity ON vault_id = log AND id < ?1 WHERE ${LEAVES} LIMIT 5000`,
  count: `
    UPDATE logs SET entries = max(0, entries - deleted)
    FROM (
      SELECT counter, count(*) AS deleted FROM (
        SELECT old.id, ${counterOf("log")} AS counter
        FROM (${KEYS}) AS old JOIN activity ON vault_id = old.log AND activity.id = old.id WHERE ${IS_COUNTED})
      WHERE id > (SELECT trimmed FROM logs WHERE vault_id = counter)
      GROUP BY counter)
    WHERE vault_id = counter`,
  /** A damaged number, higher than that of the vault, tells nothing. */
  numbers: `
    INSERT INTO logs (vault_id, entries, trimmed)
    SELECT ${expiredOf("old.log")}, max(sequence), ''
    FROM (${KEYS}) AS old JOIN activity ON vault_id = old.log AND activity.id = old.id JOIN vaults ON vaults.id = old.log
    WHERE sequence <= content_version + attribute_version GROUP BY old.log
    ON CONFLICT (vault_id) DO UPDATE SET entries = max(entries, excluded.entries)`,
  delete: `DELETE FROM activity WHERE (vault_id, id) IN (${KEYS})`,
  deleted: "SELECT changes() AS deleted",
  // The log of a deleted vault keeps one entry, the deletion.
  forget: `
    DELETE FROM logs
    WHERE ${LOG} <> '${NOWHERE}' AND NOT EXISTS (SELECT 1 FROM vaults WHERE id = ${LOG})
      AND NOT EXISTS (SELECT 1 FROM tokens WHERE id = ${LOG})
      AND (SELECT count(*) FROM (SELECT 1 FROM activity WHERE activity.vault_id = ${LOG} LIMIT 2)) < 2`,
};

/** The most slices of a run of the cron trigger. */
export const SLICES = 8;

/**
 * Deletes the entries before a time (Unix milliseconds) without archiving them, in slices of 5,000; the next run continues after
 * eight slices. In: what gives the calls of a slice. Out: how many were deleted. For the cron trigger: throws when D1 fails, so that the
 * run shows as failed.
 */
export async function deleteOldActivity(db: D1Database, before: number, take: Take): Promise<number> {
  let deleted = 0;
  for (let slice = 0; slice < SLICES && take(2); slice++) {
    const old = await requireBatch<[EntryKey]>(db, db.prepare(SQL.old).bind(timePrefix(before)));
    if (old[0].length === 0) break;
    deleted += await deleteEntries(db, old[0]);
  }
  return deleted;
}

/** Deletes entries in one D1 call, together with another statement. Out: how many there were. Throws when D1 fails. */
export async function deleteEntries(
  db: D1Database,
  entries: readonly EntryKey[],
  ...statements: readonly D1PreparedStatement[]
): Promise<number> {
  const keys = JSON.stringify(entries.map(({ log, id }) => [log, id]));
  const bind = (sql: string) => db.prepare(sql).bind(keys);
  const done = await requireBatch<[never, never, never, { deleted: number }, ...never[]]>(
    db,
    bind(SQL.count),
    bind(SQL.numbers),
    bind(SQL.delete),
    db.prepare(SQL.deleted),
    ...statements,
  );
  return done[3][0]!.deleted;
}

/** Deletes the counts of the logs of deleted vaults and tokens that have no entry left. Throws when D1 fails. */
export const forgetLogs = async (db: D1Database): Promise<void> => void (await requireBatch(db, db.prepare(SQL.forget)));

/** As `runBatch`. Throws when D1 fails. */
export async function requireBatch<Rows extends unknown[]>(
  ...call: Parameters<typeof runBatch<Rows>>
): Promise<{ [K in keyof Rows]: Rows[K][] }> {
  const done = await runBatch<Rows>(...call);
  if (!done.ok) throw new Error("expired entries could not be deleted");
  return done.value;
}
