import { NOWHERE } from "../../crypto/seal.ts";
import type { AdminResource } from "../../model/activity.ts";
import { ADMIN } from "../../model/operation.ts";
import { ACTIVITY, type ActivityRow } from "./entries.ts";
import { runBatch } from "../d1/database.ts";

/**
 * Inserts the rows that come through the queue, and keeps each log within `ACTIVITY_MAX_ROWS` reads and denials. The row of
 * a log in the table `logs` counts those whose id is after `trimmed`; there are no others, unless they are from before the
 * row. Entries of writes are not counted and stay for the retention. In the log of the admin denials and sign-ins have counts of their own,
 * because others than the admin cause them: they push out none but their own kind. What was dropped from a log has a row too.
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

const DENIALS = `${NOWHERE}/denials`;
const SIGN_INS = `${NOWHERE}/sign-ins`;

/** SQL: the name of the count of an entry in `logs`. In: the expression of its log. */
export const counterOf = (log: string): string => `
  CASE WHEN ${log} <> '${NOWHERE}' THEN ${log} WHEN result = 'DENY' THEN '${DENIALS}'
    WHEN resource IS '${SIGN_IN}' THEN '${SIGN_INS}' ELSE ${log} END`;

/** SQL: all names of counts of a log. In: its expression. */
export const countersIn = (log: string): string => `(${log}, ${log} || '/denials', ${log} || '/sign-ins')`;

/** All names of counts of a log. */
const countersOf = (log: string): readonly string[] => (log === NOWHERE ? [log, DENIALS, SIGN_INS] : [log]);

/** SQL: the row in `logs` of what was dropped from a log: how many entries, and in `trimmed` the newest. In: the expression of the log. */
export const droppedOf = (log: string): string => `${log} || '/dropped'`;

/** A log without a count starts with that of so many of its newest entries; older ones stay uncounted. */
const COUNTED_AT_FIRST = 1_000;

const isOfAdminLog = ({ actor, resource }: ActivityRow): boolean => actor === ADMIN || resource === SIGN_IN;

/** The rows of a batch whose log exists: that of a vault or token that was not deleted, and the admin's. */
const ROWS = `
  SELECT *, ${counterOf("log")} AS counter FROM (
    SELECT value, value ->> 'log' AS log, value ->> 'id' AS id, value ->> 'action' AS action, value ->> 'result' AS result,
      value ->> 'resource' AS resource
    FROM json_each(?1)
    WHERE EXISTS (SELECT 1 FROM vaults WHERE id = value ->> 'log') OR EXISTS (SELECT 1 FROM tokens WHERE id = value ->> 'log')
      OR (value ->> 'log' = '${NOWHERE}' AND (value ->> 'actor' = '${ADMIN}' OR value ->> 'resource' = '${SIGN_IN}')))`;

const NEWEST = "SELECT id, action, result, resource FROM activity WHERE vault_id = log ORDER BY id DESC";

const SQL = {
  begin: `
    INSERT INTO logs (vault_id, entries, trimmed)
    SELECT counter,
      (SELECT count(*) FROM (${NEWEST} LIMIT ${COUNTED_AT_FIRST}) WHERE ${IS_COUNTED} AND ${counterOf("log")} = counter),
      coalesce((SELECT id FROM (${NEWEST} LIMIT 1 OFFSET ${COUNTED_AT_FIRST})), '')
    FROM (
      SELECT value ->> 0 AS log, value ->> 1 AS counter FROM json_each(?1) WHERE value ->> 0 = '${NOWHERE}'
        OR EXISTS (SELECT 1 FROM vaults WHERE id = value ->> 0) OR EXISTS (SELECT 1 FROM tokens WHERE id = value ->> 0))
    WHERE NOT EXISTS (SELECT 1 FROM logs WHERE vault_id = counter)`,
  count: `
    UPDATE logs SET entries = entries + added
    FROM (
      SELECT counter, count(DISTINCT id) AS added FROM (${ROWS}) AS row
      WHERE ${IS_COUNTED} AND id > (SELECT trimmed FROM logs WHERE vault_id = counter)
        AND NOT EXISTS (SELECT 1 FROM activity WHERE vault_id = log AND activity.id = row.id)
      GROUP BY counter)
    WHERE vault_id = counter`,
  // A read or denial that is older than what was trimmed is dropped. The queue may deliver a row twice.
  insert: `
    INSERT INTO activity (${ACTIVITY.columns})
    SELECT log, ${ACTIVITY.values} FROM (${ROWS})
    WHERE NOT ${IS_COUNTED} OR id > (SELECT trimmed FROM logs WHERE vault_id = counter)
    ON CONFLICT (vault_id, id) DO NOTHING`,
  full: `
    SELECT log, vault_id AS counter, trimmed FROM logs JOIN (SELECT value ->> 0 AS log, value ->> 1 AS counter FROM json_each(?1))
    ON vault_id = counter WHERE entries > ?2
    ORDER BY entries DESC LIMIT 20`,
};

/** A log with more reads and denials than the maximum. */
interface FullLog {
  readonly log: string;
  readonly counter: string;
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
  const named = new Set(rows.filter((row) => row.log !== NOWHERE || isOfAdminLog(row)).map(({ log }) => log));
  const logs = JSON.stringify([...named].flatMap((log) => countersOf(log).map((counter) => [log, counter])));
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

const IS_OF_COUNT = `${IS_COUNTED} AND ${counterOf("?1")} = ?2`;

const TRIMMED = `
  FROM activity WHERE vault_id = ?1 AND id > ?3 AND id <= (SELECT trimmed FROM logs WHERE vault_id = ?2) AND ${IS_OF_COUNT}`;

const TRIM = {
  /** Moves on to the last entry that is too many, or to the end of the scan. */
  move: `
    UPDATE logs SET trimmed = coalesce(
      (SELECT id FROM (${OLDEST}) WHERE ${IS_OF_COUNT} LIMIT 1 OFFSET (SELECT max(entries - ?3, 1) - 1 FROM logs WHERE vault_id = ?2)),
      (SELECT max(id) FROM (${OLDEST})),
      trimmed)
    WHERE vault_id = ?2 AND entries > ?3`,
  count: `UPDATE logs SET entries = entries - (SELECT count(*) ${TRIMMED}) WHERE vault_id = ?2`,
  tell: `
    INSERT INTO logs (vault_id, entries, trimmed)
    SELECT ${droppedOf("?1")}, count(*), max(id) ${TRIMMED} HAVING count(*) > 0
    ON CONFLICT (vault_id) DO UPDATE SET entries = entries + excluded.entries, trimmed = max(trimmed, excluded.trimmed)`,
  delete: `DELETE ${TRIMMED}`,
};

const trim = (db: D1Database, { log, counter, trimmed }: FullLog, most: number): D1PreparedStatement[] => [
  db.prepare(TRIM.move).bind(log, counter, most),
  db.prepare(TRIM.count).bind(log, counter, trimmed),
  db.prepare(TRIM.tell).bind(log, counter, trimmed),
  db.prepare(TRIM.delete).bind(log, counter, trimmed),
];
