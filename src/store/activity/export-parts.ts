import { timePrefix } from "../../model/ids.ts";
import { must, ok, type Result } from "../../model/result.ts";
import { DAY } from "../../model/time.ts";
import { admitBytes } from "../../memory-budget.ts";
import type { Bucket } from "../buckets/bucket.ts";
import { listAll } from "../buckets/calls.ts";
import { readBatch, runBatch, type Store } from "../d1/database.ts";
import {
  ARCHIVE,
  type ArchiveObject,
  END,
  endOf,
  isBefore,
  lateKey,
  lateOf,
  objectOf,
  partsOf,
  type Place,
  type PlacedEntry,
  placedEntries,
  readObject,
} from "./archive.ts";
import { ACTIVITY, type ActivityRow } from "./entry-rows.ts";
import { HAS_DAY, logsIn } from "./retention.ts";
import { CELLS, dayOfKey, HAS_CELL, logOf, type Segment, smallestCell } from "./segments.ts";

/** Reads the entries of a day for an export, from D1 and the archive, from a place on, in the order of their logs and ids. */

export interface ExportSession {
  readonly store: Store;
  readonly bucket: Bucket;
  readonly vault: string | undefined;
  /** No later day is exported. */
  readonly lastDay: string;
  /** Calls of D1 and R2 until now. */
  calls: number;
}

/** Entries of a day. */
export interface Run {
  readonly entries: readonly PlacedEntry[];
  /** All entries before this place were read. */
  readonly end: Place;
}

/** Returns the place next after an id, or after all that was read up to a key: no id is between them. */
export const placeAfter = ([log, id]: Place): Place => [log, `${id} `];

/** Returns where to read from, so that the segments and late hand-overs of a cell are read together. A place after the cell skips them. */
const startOf = (id: string): string => (id.endsWith("~") ? id : smallestCell(id));

/** Returns the place after the last log that is exported. */
export const endOfLogs = ({ vault }: ExportSession): Place => (vault === undefined ? END : [`${vault}~`, ""]);

const earlier = (a: Place, b: Place): Place => (isBefore(a, b) ? a : b);

/** The segments that one call reads, and about the bytes of objects. */
const SEGMENTS_MAX = 64;
const OBJECT_BYTES_MAX = 4 * 1024 * 1024;
/** Objects read at once, except objects with the place at which they begin. */
const OBJECTS_MAX = 16;
const LATE_MAX = 100;

/** The entries of a log within the day from a place on. */
const OF_LOG = "activity WHERE vault_id = log AND id >= CASE WHEN log = ?3 THEN ?4 ELSE ?1 END AND id > ?1 AND id < ?2";

const ONE_LOG = "WITH logs (log) AS (SELECT ?3)";

type LogTable = "activity" | "log_segments";

/** Log by log, because the keys begin with the log: besides what it finds, each call reads about three rows for each log. */
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
  /** In the order of the key: the list of logs has it, and so has each log. No log comes between one and the same with ":" and more. */
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
export async function readStored(session: ExportSession, day: string, [log, id]: Place, room: number): Promise<Result<Run>> {
  session.calls++;
  const { store, vault } = session;
  const start = Date.parse(day);
  const [first, end] = [timePrefix(start), timePrefix(start + DAY)];
  const cell = startOf(id) > first ? startOf(id) : first;
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
 * Reads what the archive has of a day up to a place, after D1 was read: what has left it since is there. Fails with `rate` if other requests have too many
 * bytes in work. Throws when R2 fails.
 */
export async function readArchived(session: ExportSession, day: string, from: Place, to: Place): Promise<Result<Run>> {
  const { bucket, vault } = session;
  const late = lateOf(day);
  session.calls += 2;
  const parts = await listAll(bucket, partsOf(day));
  const after = from[0] < (vault ?? "") ? {} : { after: lateKey(day, [from[0], startOf(from[1])]) };
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
    // One that was deleted since it was listed has no entries.
    const text = await (await bucket.get(object.key))?.text();
    if (text !== undefined) entries.push(...readObject(object, text, vault));
  }
  return ok({ entries, end });
}

/** Returns the first day from one on that may have entries. D1 is read first: what has left it since is in the archive. Throws when D1 or R2 fails. */
export async function loadNextDay(session: ExportSession, from: string): Promise<string | undefined> {
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
