import type { ExportPosition } from "../../model/export-position.ts";
import { timeOf, timePrefix } from "../../model/ids.ts";
import { must, ok, type Result } from "../../model/result.ts";
import { DAY, dayOf } from "../../model/time.ts";
import { ARCHIVE, brokenId, isOfDay, mergeLines, segmentsOf } from "./archive.ts";
import { HAS_DAY, logsIn } from "./retention.ts";
import { ACTIVITY, type ActivityRow } from "./entry-rows.ts";
import { entriesOf, logOf, type Segment, type SegmentEntry } from "./segments.ts";
import { runBatch, type Store } from "../d1/database.ts";
import type { Bucket } from "../buckets/bucket.ts";
import type { StoredEntry } from "./slices.ts";

/** What the steps of one page of an export share (export.ts). */
export interface ExportSession {
  readonly store: Store;
  readonly bucket: Bucket;
  readonly vault: string | undefined;
  readonly matches: (row: StoredEntry) => boolean;
  /** No later day is exported. */
  readonly lastDay: string;
  /** How many numbered objects of a day are complete, as far as it is known; an object beyond is completed again, without effect. */
  readonly complete: Map<string, number>;
  /** Calls of D1 and R2 until now. */
  calls: number;
}

/** What a step gives. `next` is where the next one begins; absent at the end of the export. */
export interface Step {
  readonly rows: readonly StoredEntry[];
  readonly next: ExportPosition | undefined;
}

/** So many days are read ahead. */
const SESSION_DAYS_MAX = 60;

const COMPLETE = `SELECT day, objects FROM archived_days WHERE day >= ?1 ORDER BY day LIMIT ${SESSION_DAYS_MAX}`;

/** Opens a session that begins with a day. Throws when D1 fails. */
export async function openSession(
  store: Store,
  bucket: Bucket,
  filter: Pick<ExportSession, "vault" | "matches" | "lastDay">,
  from: string,
): Promise<ExportSession> {
  const read = must(
    "read the archived days",
    await runBatch<[{ day: string; objects: number }]>(store.db, store.db.prepare(COMPLETE).bind(from)),
  );
  return { store, bucket, ...filter, complete: new Map(read[0].map(({ day, objects }) => [day, objects])), calls: 1 };
}

/** The first day from one on that has objects in the archive. Throws when R2 fails. */
export async function loadArchivedDay(session: ExportSession, from: string): Promise<string | undefined> {
  session.calls++;
  const { folders } = await session.bucket.list({ prefix: ARCHIVE, folders: true, after: ARCHIVE + from, limit: 1 });
  return folders[0]?.slice(ARCHIVE.length);
}

/** Takes the entries that match, from an index on, as many as there is room for. Out: also where to go on, unless all were looked at. */
export function take<Entry extends StoredEntry>(
  rows: readonly Entry[],
  from: number,
  room: number,
  matches: (row: Entry) => boolean,
): { readonly rows: readonly Entry[]; readonly index: number; readonly done: boolean } {
  const taken: Entry[] = [];
  let index = from;
  for (; index < rows.length && taken.length < room; index++) if (matches(rows[index]!)) taken.push(rows[index]!);
  return { rows: taken, index, done: index >= rows.length };
}

/**
 * What an export of the log reads: the rows of a day that are in D1, and its segments. Log by log, because the keys begin with the log:
 * besides what it finds, each call reads about three rows for each log.
 */

/** The entries of a log within the day that come after the last one that was shown. */
const OF_LOG = "activity WHERE vault_id = log AND id > CASE WHEN log = ?3 THEN ?4 ELSE ?1 END AND id < ?2";

const ONE_LOG = "WITH logs (log) AS (SELECT ?4)";

type LogTable = "activity" | "log_segments";

const SQL = {
  /** `earlier` counts the entries of the logs before: no log is read after those that fill the page. */
  entries: `
    WITH RECURSIVE logs (log, earlier) AS (
      SELECT coalesce(?6, (SELECT min(vault_id) FROM activity WHERE vault_id >= ?3)), 0
      UNION ALL
      SELECT (SELECT min(vault_id) FROM activity WHERE vault_id > log), earlier + (SELECT count(*) FROM (SELECT 1 FROM ${OF_LOG} LIMIT ?5))
      FROM logs WHERE log IS NOT NULL AND ?6 IS NULL AND earlier < ?5)
    SELECT (SELECT json_group_array(json(entry)) FROM (SELECT ${ACTIVITY.object} AS entry FROM ${OF_LOG} ORDER BY id LIMIT ?5)) AS entries
    FROM logs WHERE log IS NOT NULL AND earlier < ?5 AND EXISTS (SELECT 1 FROM ${OF_LOG})`,
  objects: "SELECT objects FROM archived_days WHERE day = ?1",
  next: (table: LogTable, logs = logsIn(table)) => `
    ${logs}
    SELECT min((SELECT id FROM ${table} WHERE vault_id = log AND id > ?1 AND id < ?3 AND ${HAS_DAY} ORDER BY id LIMIT 1)) AS id,
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

/** Whether an entry comes after a position in the order of logs and ids. */
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
  const values = [
    timePrefix(Date.parse(from)),
    from,
    timePrefix(Date.parse(last) + DAY),
    ...(vault === undefined ? [] : [vault]),
  ];
  const statementOf = (table: LogTable) => db.prepare(SQL.next(table, vault === undefined ? undefined : ONE_LOG)).bind(...values);
  type Row = { id: string | null; day: string | null };
  const read = await runBatch<[Row, Row]>(db, statementOf("activity"), statementOf("log_segments"));
  if (!read.ok) return read;
  const firsts = read.value.flat();
  const days = firsts.flatMap(({ id }) => (id === null ? [] : dayOf(timeOf(id)))).concat(firsts.flatMap(({ day }) => day ?? []));
  return ok(days.toSorted()[0]);
}

/**
 * Segments: those of a day in the order of their logs and ids, in D1 and in the archive. One that is
 * moved meanwhile has the same key in both, and the same lines in the same order. D1 is read first: what has left it since is in the archive.
 */

/** Segments that are read at once. */
const SLICE_SEGMENTS_MAX = 16;

/** In the order of the key: the list of logs has it, and so has each log. No log comes between one and the same with ":" and more. */
const SEGMENTS = `
  WITH RECURSIVE logs (log) AS (
    SELECT min(vault_id) FROM log_segments WHERE vault_id >= max(?3, ?5)
    UNION ALL SELECT (SELECT min(vault_id) FROM log_segments WHERE vault_id > log) FROM logs
    WHERE log IS NOT NULL AND (?5 = '' OR ${logOf("log")} = ?5))
  SELECT vault_id AS log, id, lines FROM logs CROSS JOIN log_segments ON vault_id = log AND id > ?1 AND id < ?2
  WHERE (vault_id, id) > (?3, ?4) AND (?5 = '' OR ${logOf("vault_id")} = ?5) LIMIT ${SLICE_SEGMENTS_MAX}`;

/** Shows entries of the segments of a day. In: the most calls of the page. Out: without `next` all were shown. Throws when D1 or R2 fails. */
export async function readSegments(session: ExportSession, position: ExportPosition, room: number, calls: number): Promise<Step> {
  const { day, after } = position;
  const stored = await loadStored(session, day, after);
  const archived = await listArchived(session, day, after);
  const keys = [...new Set([...stored.segments.keys(), ...archived.keys])].toSorted();
  // A key beyond what was read of the rows or of the archive may exist there too.
  const certain = keys.filter((key) => key <= stored.end && key <= archived.end);
  const rows: SegmentEntry[] = [];
  let next = position;
  for (const key of certain) {
    if (rows.length >= room || session.calls >= calls) return { rows, next };
    const segment = await loadSegment(session, day, key, stored.segments.get(key), archived.keys.has(key));
    const taken = take(entriesOfDay(segment, day, key), next.index, room - rows.length, session.matches);
    rows.push(...taken.rows);
    next = taken.done ? { ...next, after: key, index: 0 } : { ...next, index: taken.index };
    if (!taken.done) return { rows, next };
  }
  const isLast = stored.end === KEYS_END && archived.end === KEYS_END;
  return { rows, next: isLast ? undefined : next };
}

/** The entries of a segment; broken ones in place of those of another day, whose lines somebody has put here. */
const entriesOfDay = (segment: Segment, day: string, key: string): SegmentEntry[] =>
  entriesOf(segment).map((entry, index) =>
    isOfDay(day, entry.id) ? entry : Object.assign(entry, { id: brokenId(day, `${key}.${index}`), line: undefined }),
  );

/** Comes after all keys. */
const KEYS_END = "~";

/** The segments of a day in D1 after a key, and the last key up to which there are no others. */
async function loadStored(session: ExportSession, day: string, after: string) {
  session.calls++;
  const start = Date.parse(day);
  const [log = "", id = ""] = after.split("/");
  const values = [timePrefix(start), timePrefix(start + DAY), log, id, session.vault ?? ""];
  const { db } = session.store;
  const [rows] = must("read segments", await runBatch<[Segment]>(db, db.prepare(SEGMENTS).bind(...values)));
  const segments = new Map(rows.map((row) => [`${row.log}/${row.id}`, row.lines]));
  return { segments, end: rows.length < SLICE_SEGMENTS_MAX ? KEYS_END : [...segments.keys()].at(-1)! };
}

/** The same of the archive, without the lines. It is listed after D1 was read: a day may have come into the archive since the page began. */
async function listArchived(session: ExportSession, day: string, after: string) {
  session.calls++;
  const prefix = segmentsOf(day);
  const { objects, next } = await session.bucket.list({
    prefix: prefix + (session.vault ?? ""),
    limit: SLICE_SEGMENTS_MAX,
    after: after === "" ? "" : prefix + after,
  });
  const keys = objects.map(({ key }) => key.slice(prefix.length));
  return { keys: new Set(keys), end: next === undefined ? KEYS_END : keys.at(-1)! };
}

/** An object that was deleted since it was listed has no lines. */
async function loadSegment(
  session: ExportSession,
  day: string,
  key: string,
  stored: string | undefined,
  isArchived: boolean,
): Promise<Segment> {
  const [log, id] = key.split("/") as [string, string];
  if (!isArchived) return { log, id, lines: stored ?? "" };
  session.calls++;
  const object = await session.bucket.get(segmentsOf(day) + key);
  return { log, id, lines: mergeLines((await object?.text()) ?? "", stored ?? "") };
}
