import { timeOf, timePrefix } from "../../model/ids.ts";
import { ok, type Result } from "../../model/result.ts";
import { DAY } from "../../model/time.ts";
import { dayOf } from "./archive.ts";
import { ALL_LOGS, HAS_DAY } from "./retention.ts";
import type { ActivityRow } from "./entries.ts";
import { runBatch } from "../d1/database.ts";

/**
 * What an export of the log reads from D1: the entries of a day log by log, because the key begins with the log. Besides the
 * entries, each call reads about three rows for each log.
 */

const ENTRY = `
  json_object('log', vault_id, 'id', id, 'action', action, 'result', result, 'actor', actor, 'item', item_id, 'version', version,
    'root_key_id', root_key_id, 'sealed', sealed, 'resource', resource, 'sequence', sequence, 'at', at, 'event', event)`;

/** The entries of a log within the day that come after the last one that was shown. */
const OF_LOG = "activity WHERE vault_id = log AND id > CASE WHEN log = ?3 THEN ?4 ELSE ?1 END AND id < ?2";

const ONE_LOG = "WITH logs (log) AS (SELECT ?4)";

const SQL = {
  /** `earlier` counts the entries of the logs before: no log is read after those that fill the page. */
  entries: `
    WITH RECURSIVE logs (log, earlier) AS (
      SELECT coalesce(?6, (SELECT min(vault_id) FROM activity WHERE vault_id >= ?3)), 0
      UNION ALL
      SELECT (SELECT min(vault_id) FROM activity WHERE vault_id > log), earlier + (SELECT count(*) FROM (SELECT 1 FROM ${OF_LOG} LIMIT ?5))
      FROM logs WHERE log IS NOT NULL AND ?6 IS NULL AND earlier < ?5)
    SELECT (SELECT json_group_array(json(entry)) FROM (SELECT ${ENTRY} AS entry FROM ${OF_LOG} ORDER BY id LIMIT ?5)) AS entries
    FROM logs WHERE log IS NOT NULL AND earlier < ?5 AND EXISTS (SELECT 1 FROM ${OF_LOG})`,
  objects: "SELECT objects FROM archived_days WHERE day = ?1",
  next: (logs: string) => `
    ${logs}
    SELECT min((SELECT id FROM activity WHERE vault_id = log AND id > ?1 AND id < ?3 AND ${HAS_DAY} ORDER BY id LIMIT 1)) AS id,
      (SELECT min(day) FROM archived_days WHERE day >= ?2) AS day FROM logs`,
};

/** The entries of a day that are in D1, and how many objects of the day are complete at the same moment. */
export interface DayRows {
  readonly objects: number;
  readonly rows: readonly ActivityRow[];
}

/**
 * Loads entries of a day, in the order of their logs and ids: at most `limit`. In: the log and the id of the last entry that was shown;
 * the only log, where not all are exported. Errors: `unavailable`.
 */
export async function loadDayRows(
  db: D1Database,
  day: string,
  [log, id]: readonly [string, string],
  limit: number,
  vault: string | undefined,
): Promise<Result<DayRows>> {
  const start = Date.parse(day);
  const bounds = [timePrefix(start), timePrefix(start + DAY)];
  const read = await runBatch<[{ objects: number }, { entries: string }]>(
    db,
    db.prepare(SQL.objects).bind(day),
    db.prepare(SQL.entries).bind(...bounds, log, id, limit, vault ?? null),
  );
  if (!read.ok) return read;
  const rows = read.value[1].flatMap(({ entries }) => JSON.parse(entries) as ActivityRow[]);
  return ok({ objects: read.value[0][0]?.objects ?? 0, rows: rows.toSorted(inOrder).slice(0, limit) });
}

/** Whether an entry comes after a place in the order of logs and ids. */
export const isAfter = ({ log, id }: ActivityRow, [floorLog, floorId]: readonly [string, string]): boolean =>
  log === floorLog ? id > floorId : log > floorLog;

const inOrder = (a: ActivityRow, b: ActivityRow): number => (isAfter(a, [b.log, b.id]) ? 1 : -1);

/**
 * The first day from one on, up to the last one, that has entries in D1 or complete objects in the archive. Out: `undefined` when there is
 * none. Both are read at the same moment, so a day whose entries are just being archived is not missed. Errors: `unavailable`.
 */
export async function loadNextDay(
  db: D1Database,
  from: string,
  last: string,
  vault: string | undefined,
): Promise<Result<string | undefined>> {
  const sql = SQL.next(vault === undefined ? ALL_LOGS : ONE_LOG);
  const values = [
    timePrefix(Date.parse(from)),
    from,
    timePrefix(Date.parse(last) + DAY),
    ...(vault === undefined ? [] : [vault]),
  ];
  const read = await runBatch<[{ id: string | null; day: string | null }]>(db, db.prepare(sql).bind(...values));
  if (!read.ok) return read;
  const [{ id, day } = { id: null, day: null }] = read.value[0];
  return ok([...(id === null ? [] : [dayOf(timeOf(id))]), ...(day === null ? [] : [day])].toSorted()[0]);
}
