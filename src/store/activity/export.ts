import { failedBy } from "../../log.ts";
import { admitBytes } from "../../memory-budget.ts";
import type { ListedActivity } from "../../model/activity.ts";
import { type ExportPosition, startOf } from "../../model/export-position.ts";
import { timePrefix } from "../../model/ids.ts";
import { ok, type Result, must } from "../../model/result.ts";
import { DAY, dayOf } from "../../model/time.ts";
import type { Bucket } from "../buckets/bucket.ts";
import { listAll } from "../buckets/calls.ts";
import { type Store, readBatch, runBatch } from "../d1/database.ts";
import {
  isBefore,
  type Place,
  type PlacedEntry,
  ARCHIVE,
  type ArchiveObject,
  END,
  endOf,
  lateKey,
  lateOf,
  objectOf,
  partsOf,
  placedEntries,
  readObject,
} from "./archive.ts";
import { ACTIVITY, type ActivityRow } from "./entry-rows.ts";
import { listStored } from "./page.ts";
import { HAS_DAY, logsIn } from "./retention.ts";
import { smallestCell, CELLS, dayOfKey, HAS_CELL, logOf, type Segment } from "./segments.ts";
import type { StoredEntry } from "./slices.ts";

/**
 * Exports the log, day by day (UTC), the oldest first, and within a day in the order of logs and ids. A page merges D1 and the archive, and
 * shows each entry once, wherever and however often it is stored. It begins where the previous page ended, so a moved entry is found in its
 * new place.
 */

export interface ExportFilter {
  /** The only log that is exported; absent: all logs. */
  readonly vault: string | undefined;
  /** Unix milliseconds: from `since` on, and before `until`. */
  readonly since: number;
  readonly until: number;
}

export interface ExportPage {
  readonly activities: readonly ListedActivity[];
  /** Absent on the last page. A page may be short, or empty, although there is a next one. */
  readonly next: ExportPosition | undefined;
}

/** Calls of D1 and R2 for a page: on the free plan a request makes at most 50. A step makes at most 23 calls between two checks. */
const PAGE_CALLS_MAX = 24;

/** Loads a page of at most `limit` entries. It begins at the position; absent: at the beginning. Fails with `unavailable` or `rate`. */
export async function loadExportPage(
  store: Store,
  bucket: Bucket,
  { vault, since, until }: ExportFilter,
  from: ExportPosition | undefined,
  limit: number,
): Promise<Result<ExportPage>> {
  try {
    const [first, end] = [timePrefix(since), timePrefix(until)];
    const matches = ({ log, id }: StoredEntry) => id > first && id < end && (vault === undefined || log === vault);
    const session: ExportSession = { store, bucket, vault, lastDay: dayOf(until + DAY), calls: 0 };
    const entries: StoredEntry[] = [];
    let position = from ?? (await nextDay(session, dayOf(since)));
    while (position !== undefined && entries.length < limit && session.calls < PAGE_CALLS_MAX) {
      const step = await readDay(session, position, limit - entries.length, matches);
      if (!step.ok) return step;
      entries.push(...step.value.entries);
      position = step.value.next ?? (await nextDay(session, dayOf(Date.parse(position.day) + DAY)));
    }
    const activities: ListedActivity[] = [];
    for (const entry of entries) activities.push(await listStored(store.keyring, entry));
    return ok({ activities, next: position });
  } catch (error) {
    return failedBy("The export of the log", error, "unavailable");
  }
}

async function nextDay(session: ExportSession, from: string): Promise<ExportPosition | undefined> {
  const day = await loadNextDay(session, from);
  return day === undefined ? undefined : startOf(day);
}

/** Reads entries of a day. Returns also the position of the next step; absent at the end of the day. */
async function readDay(
  session: ExportSession,
  { day, place: from }: ExportPosition,
  room: number,
  matches: (entry: StoredEntry) => boolean,
): Promise<Result<{ readonly entries: readonly StoredEntry[]; readonly next: ExportPosition | undefined }>> {
  const stored = await readStored(session, day, from, room);
  if (!stored.ok) return stored;
  const archived = await readArchived(session, day, from, stored.value.end);
  if (!archived.ok) return archived;
  // A cell that takes more than one call ends the step: the next step begins after the cell.
  const { end: readEnd } = archived.value;
  const end: Place = isBefore(from, readEnd) ? readEnd : [from[0], `${smallestCell(from[1])}~`];
  const [first, last] = [timePrefix(Date.parse(day)), timePrefix(Date.parse(day) + DAY)];
  const isShown = ({ place, entry }: PlacedEntry) =>
    !isBefore(place, from) && isBefore(place, end) && place[1] > first && place[1] < last && matches(entry);
  const found = [...stored.value.entries, ...archived.value.entries].filter(isShown);
  const unique = [...new Map(found.toReversed().map((one) => [one.place.join(" "), one])).values()];
  const ordered = unique.toSorted((a, b) => (isBefore(a.place, b.place) ? -1 : 1));
  const shown = ordered.slice(0, room);
  const next = ordered.length > room ? placeAfter(shown.at(-1)!.place) : end;
  return ok({
    entries: shown.map(({ entry }) => entry),
    next: isBefore(next, endOfLogs(session)) ? { day, place: [...next] } : undefined,
  });
}

/** Reads the entries of a day for an export, from D1 and the archive, from a place on, in the order of their logs and ids. */

interface ExportSession {
  readonly store: Store;
  readonly bucket: Bucket;
  readonly vault: string | undefined;
  /** No later day is exported. */
  readonly lastDay: string;
  /** Calls of D1 and R2 until now. */
  calls: number;
}

/** Entries of a day. */
interface Run {
  readonly entries: readonly PlacedEntry[];
  /** All entries before this place were read. */
  readonly end: Place;
}

/** Returns the place right after an id, or after everything read up to a key: no id is between them. */
const placeAfter = ([log, id]: Place): Place => [log, `${id} `];

/**
 * Returns the place to read from, so that the segments and late hand-overs of a cell are read together. A place after the cell skips them.
 */
const startOfPart = (id: string): string => (id.endsWith("~") ? id : smallestCell(id));

/** Returns the place after the last log that is exported. */
const endOfLogs = ({ vault }: ExportSession): Place => (vault === undefined ? END : [`${vault}~`, ""]);

const earlier = (a: Place, b: Place): Place => (isBefore(a, b) ? a : b);

/** The number of segments per call, and the approximate bytes of objects. */
const SEGMENTS_MAX = 64;
const OBJECT_BYTES_MAX = 4 * 1024 * 1024;
/** Objects read at once, except objects with the place at which they begin. */
const OBJECTS_MAX = 16;
const LATE_MAX = 100;

/** The entries of a log within the day from a place on. */
const OF_LOG = "activity WHERE vault_id = log AND id >= CASE WHEN log = ?3 THEN ?4 ELSE ?1 END AND id > ?1 AND id < ?2";

const ONE_LOG = "WITH logs (log) AS (SELECT ?3)";

type LogTable = "activity" | "log_segments";

/** Log by log, because the keys begin with the log. Besides its results, each call reads about three rows for each log. */
const SQL = {
  /** `earlier` counts the entries of earlier logs: reading stops at the log that fills the page. */
  entries: `
    WITH RECURSIVE logs (log, earlier) AS (
      SELECT coalesce(?6, (SELECT min(vault_id) FROM activity WHERE vault_id >= ?3)), 0
      UNION ALL
      SELECT (SELECT min(vault_id) FROM activity WHERE vault_id > log), earlier + (SELECT count(*) FROM (SELECT 1 FROM ${OF_LOG} LIMIT ?5))
      FROM logs WHERE log IS NOT NULL AND ?6 IS NULL AND earlier < ?5)
    SELECT (SELECT json_group_array(json(entry)) FROM (SELECT ${ACTIVITY.object} AS entry FROM ${OF_LOG} ORDER BY id LIMIT ?5)) AS entries
    FROM logs WHERE log IS NOT NULL AND earlier < ?5 AND EXISTS (SELECT 1 FROM ${OF_LOG})`,
  /**
   * The order is the order of the key, because the list of logs and each log have this order. No log comes between a log and the same text
   * with ":" and more.
   */
  segments: `
    WITH RECURSIVE logs (log) AS (
      SELECT min(vault_id) FROM log_segments WHERE vault_id >= max(?3, ?5)
      UNION ALL SELECT (SELECT min(vault_id) FROM log_segments WHERE vault_id > log) FROM logs
      WHERE log IS NOT NULL AND (?5 = '' OR ${logOf("log")} = ?5))
    SELECT vault_id AS log, id, lines FROM logs CROSS JOIN log_segments ON vault_id = log AND id >= iif(log = ?3, ?4, ?1) AND id < ?2
    WHERE ?5 = '' OR ${logOf("vault_id")} = ?5 LIMIT ${SEGMENTS_MAX}`,
  /** Those whose cells have the place. */
  cells: `SELECT vault_id AS log, id, lines FROM log_segments WHERE vault_id = ?1 AND id < ?2 AND id IN (${CELLS.map((digits) => `substr(?2, 1, ${digits})`).join(", ")})`,
  next: (table: LogTable, hasDay: string, logs = logsIn(table)) => `
    ${logs} SELECT min((SELECT id FROM ${table} WHERE vault_id = log AND id >= ?1 AND id < ?2 AND ${hasDay} ORDER BY id LIMIT 1)) AS id FROM logs`,
};

/**
 * Reads the rows of a day in D1: at most `room` rows, and 64 segments. Fails with `unavailable`, or with `rate` if other requests have too
 * many bytes in work.
 */
async function readStored(session: ExportSession, day: string, [log, id]: Place, room: number): Promise<Result<Run>> {
  session.calls++;
  const { store, vault } = session;
  const start = Date.parse(day);
  const [first, end] = [timePrefix(start), timePrefix(start + DAY)];
  const cell = startOfPart(id) > first ? startOfPart(id) : first;
  const read = await readBatch<[{ entries: string }, Segment, Segment]>(
    store,
    store.db.prepare(SQL.entries).bind(first, end, log, id, room, vault ?? null),
    store.db.prepare(SQL.segments).bind(first, end, log, cell, vault ?? ""),
    store.db.prepare(SQL.cells).bind(log, cell),
  );
  if (!read.ok) return read;
  const [lists, segments, cells] = read.value;
  const rows = lists
    .flatMap(({ entries }) => JSON.parse(entries) as ActivityRow[])
    .flatMap(placedEntries)
    .toSorted((a, b) => (isBefore(a.place, b.place) ? -1 : 1));
  const lastRow = rows[room - 1]?.place;
  const lastSegment = segments[SEGMENTS_MAX - 1];
  return ok({
    entries: [...rows, ...[...segments, ...cells].flatMap(placedEntries)],
    end: earlier(lastRow ? placeAfter(lastRow) : END, lastSegment ? placeAfter([lastSegment.log, lastSegment.id]) : END),
  });
}

/**
 * Reads the archive of a day up to a place, after D1 was read: entries that have left D1 since are there. Fails with `rate` if other
 * requests have too many bytes in work. Throws when R2 fails.
 */
async function readArchived(session: ExportSession, day: string, from: Place, to: Place): Promise<Result<Run>> {
  const { bucket, vault } = session;
  const late = lateOf(day);
  session.calls += 2;
  const parts = await listAll(bucket, partsOf(day));
  const after = from[0] < (vault ?? "") ? {} : { after: lateKey(day, [from[0], startOfPart(from[1])]) };
  const page = await bucket.list({ prefix: late + (vault ?? ""), limit: LATE_MAX, ...after });
  const lateObjects = page.objects.map(objectOf);
  let end = page.next === undefined ? to : earlier(to, lateObjects.at(-1)!.first);
  const objects = [...parts.map(objectOf), ...lateObjects]
    .filter(
      (object) =>
        !isBefore(endOf(object), from) &&
        !isBefore(endOf(object), [vault ?? "", ""]) &&
        isBefore(object.first, endOfLogs(session)),
    )
    .toSorted((a, b) => (isBefore(a.first, b.first) ? -1 : 1));
  const read: ArchiveObject[] = [];
  let bytes = 0;
  for (const object of objects) {
    if (!isBefore(object.first, end)) break;
    if (
      isBefore(from, object.first) &&
      (read.length >= OBJECTS_MAX || bytes + object.size > OBJECT_BYTES_MAX) &&
      read.length > 0
    ) {
      end = object.first;
      break;
    }
    read.push(object);
    bytes += object.size;
  }
  const admitted = admitBytes(session.store.share, bytes);
  if (!admitted.ok) return admitted;
  const entries: PlacedEntry[] = [];
  for (const object of read) {
    session.calls++;
    // An object that was deleted since it was listed has no entries.
    const text = await (await bucket.get(object.key))?.text();
    if (text !== undefined) entries.push(...readObject(object, text, vault));
  }
  return ok({ entries, end });
}

/**
 * Returns the first day, from a given day on, that may have entries. D1 is read first: entries that have left D1 since are in the archive.
 * Throws when D1 or R2 fails.
 */
async function loadNextDay(session: ExportSession, from: string): Promise<string | undefined> {
  session.calls += 2;
  const { store, bucket, vault, lastDay } = session;
  const [start, end] = [timePrefix(Date.parse(from)), timePrefix(Date.parse(lastDay) + DAY)];
  const logs = vault === undefined ? undefined : ONE_LOG;
  const bind = (sql: string) => store.db.prepare(sql).bind(start, end, ...(vault === undefined ? [] : [vault]));
  const read = await runBatch<[{ id: string | null }, { id: string | null }]>(
    store.db,
    bind(SQL.next("activity", HAS_DAY, logs)),
    bind(SQL.next("log_segments", HAS_CELL, logs)),
  );
  const stored = must("read the days of the log", read).flat();
  const { folders } = await bucket.list({ prefix: ARCHIVE, folders: true, after: ARCHIVE + from, limit: 1 });
  const days = stored.flatMap(({ id }) => (id === null ? [] : dayOfKey(id)));
  const archived = folders[0]?.slice(ARCHIVE.length);
  const day = [...days, ...(archived ? [archived] : [])].toSorted()[0];
  return day === undefined || day > lastDay ? undefined : day;
}
