import { NOWHERE } from "../crypto/seal.ts";
import type { AdminResource } from "../model/activity.ts";
import { ADMIN } from "../model/operation.ts";
import { ACTIVITY, type ActivityRow } from "./activity.ts";
import { runBatch } from "./database.ts";

/**
 * Inserts the rows that come through the queue, and keeps each log within `ACTIVITY_MAX_ROWS` reads and denials. The row of
 * a log in the table `logs` counts those whose id is after `trimmed`; there are no others, unless they are from before the
 * table. Entries of writes are not counted and stay for the retention.
 */

/** The resource of the only entries of the admin's log by others than the admin. A token may name a vault with the id of that log. */
const SIGN_IN: AdminResource = "SESSION";

/**
 * A condition on a row of `activity`: the entry is a read, a denial, or a sign-in, which a token without any vault can repeat as it can
 * repeat a read.
 */
export const IS_COUNTED = `(action = 'READ' OR result = 'DENY' OR resource IS '${SIGN_IN}')`;

/** The same of a row on its way. */
export const isCounted = ({ action, result, resource }: ActivityRow): boolean =>
  action === "READ" || result === "DENY" || resource === SIGN_IN;

/** A log without a count starts with that of so many of its newest entries; older ones stay uncounted. */
const COUNTED_AT_FIRST = 1_000;

const isOfAdminLog = ({ actor, resource }: ActivityRow): boolean => actor === ADMIN || resource === SIGN_IN;

/** The rows of a batch whose log exists: that of a vault or token that was not deleted, and the admin's. */
const ROWS = `
  SELECT value, value ->> 'log' AS log, value ->> 'id' AS id, value ->> 'action' AS action, value ->> 'result' AS result,
    value ->> 'resource' AS resource
  FROM json_each(?1)
  WHERE EXISTS (SELECT 1 FROM vaults WHERE id = value ->> 'log') OR EXISTS (SELECT 1 FROM tokens WHERE id = value ->> 'log')
    OR (value ->> 'log' = '${NOWHERE}' AND (value ->> 'actor' = '${ADMIN}' OR value ->> 'resource' = '${SIGN_IN}'))`;

const NEWEST = "SELECT id, action, result, resource FROM activity WHERE vault_id = log ORDER BY id DESC";

const SQL = {
  begin: `
    INSERT INTO logs (vault_id, entries, trimmed)
    SELECT log,
      (SELECT count(*) FROM (${NEWEST} LIMIT ${COUNTED_AT_FIRST}) WHERE ${IS_COUNTED}),
      coalesce((SELECT id FROM (${NEWEST} LIMIT 1 OFFSET ${COUNTED_AT_FIRST})), '')
    FROM (
      SELECT value AS log FROM json_each(?1) WHERE value = '${NOWHERE}'
        OR EXISTS (SELECT 1 FROM vaults WHERE id = value) OR EXISTS (SELECT 1 FROM tokens WHERE id = value))
    WHERE NOT EXISTS (SELECT 1 FROM logs WHERE vault_id = log)`,
  count: `
    UPDATE logs SET entries = entries + added
    FROM (
      SELECT log, count(DISTINCT id) AS added FROM (${ROWS}) AS row
      WHERE ${IS_COUNTED} AND id > (SELECT trimmed FROM logs WHERE vault_id = log)
        AND NOT EXISTS (SELECT 1 FROM activity WHERE vault_id = log AND activity.id = row.id)
      GROUP BY log)
    WHERE vault_id = log`,
  // A read or denial that is older than what was trimmed is dropped. The queue may deliver a row twice.
  insert: `
    INSERT INTO activity (${ACTIVITY.columns})
    SELECT log, ${ACTIVITY.values} FROM (${ROWS})
    WHERE NOT ${IS_COUNTED} OR id > (SELECT trimmed FROM logs WHERE vault_id = log)
    ON CONFLICT (vault_id, id) DO NOTHING`,
  full: `
    SELECT vault_id AS log, trimmed FROM logs
    WHERE vault_id IN (SELECT value FROM json_each(?1)) AND entries > ?2
    ORDER BY entries DESC LIMIT 20`,
};

/** A log with more reads and denials than the maximum. */
interface FullLog {
  readonly log: string;
  readonly trimmed: string;
}

/**
 * Inserts each row once, however often the queue delivers it, and deletes the oldest reads and denials of logs that have
 * more than `most`. One D1 call, and another one when such a log is among those of the rows; it trims the 20 fullest.
 * Throws when D1 fails, so that the queue delivers again.
 */
export async function insertActivity(db: D1Database, rows: readonly ActivityRow[], most: number): Promise<void> {
  const all = JSON.stringify(rows);
  // Apart from the rows, so that two of the four statements do not read the rows again.
  const logs = JSON.stringify([...new Set(rows.filter((row) => row.log !== NOWHERE || isOfAdminLog(row)).map(({ log }) => log))]);
  const done = await runBatch<[never, never, never, FullLog]>(
    db,
    db.prepare(SQL.begin).bind(logs),
    db.prepare(SQL.count).bind(all),
    db.prepare(SQL.insert).bind(all),
    db.prepare(SQL.full).bind(logs, most),
  );
  const full = done.ok ? done.value[3] : [];
  const trimmed = full.length === 0 || (await runBatch(db, ...full.flatMap((log) => trim(db, log, most)))).ok;
  if (!done.ok || !trimmed) throw new Error("activity could not be inserted");
}

/** The entries of a log that are deleted at once lie among so many; a scan passes the entries of writes in between once. */
const SCANNED = 5_000;

const OLDEST = `SELECT id, action, result, resource FROM activity WHERE vault_id = ?1 AND id > logs.trimmed ORDER BY id LIMIT ${SCANNED}`;

const TRIMMED = `FROM activity WHERE vault_id = ?1 AND id > ?2 AND id <= (SELECT trimmed FROM logs WHERE vault_id = ?1) AND ${IS_COUNTED}`;

const TRIM = {
  /** Moves on to the last entry that is too many, or to the end of the scan. */
  move: `
    UPDATE logs SET trimmed = coalesce(
      (SELECT id FROM (${OLDEST}) WHERE ${IS_COUNTED} LIMIT 1 OFFSET (SELECT max(entries - ?2, 1) - 1 FROM logs WHERE vault_id = ?1)),
      (SELECT max(id) FROM (${OLDEST})),
      trimmed)
    WHERE vault_id = ?1 AND entries > ?2`,
  count: `UPDATE logs SET entries = entries - (SELECT count(*) ${TRIMMED}) WHERE vault_id = ?1`,
  delete: `DELETE ${TRIMMED}`,
};

const trim = (db: D1Database, { log, trimmed }: FullLog, most: number): D1PreparedStatement[] => [
  db.prepare(TRIM.move).bind(log, most),
  db.prepare(TRIM.count).bind(log, trimmed),
  db.prepare(TRIM.delete).bind(log, trimmed),
];
