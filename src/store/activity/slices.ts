import type { ActivityFilter } from "../../model/activity.ts";
import { LIMITS } from "../../model/limits.ts";
import { ADMIN } from "../../model/operation.ts";
import { ok, type Result } from "../../model/result.ts";
import { type ActivityRow } from "./entry-rows.ts";
import { combine, type Slice, type Start } from "./merge.ts";
import { callsWithin, OVERLAP_SEGMENTS_MIN, type Reading, rowsRead, segmentRowsMax, segmentsWithin } from "./reading.ts";
import { entriesOf, type SegmentEntry, segmentLogsOf } from "./segments.ts";
import { loadForToken } from "../vaults/authorized.ts";
import { readBatch, type Store } from "../d1/database.ts";
import type { TokenIdentity } from "../vaults/token-check.ts";

/** Reads slices of the activity log: so many consecutive entries of each log, and of them those that match a filter. */

/** Who reads which logs. `claims` is the token; `admin` stands for the admin, whom the guard has authenticated. */
export interface Reader {
  readonly claims: TokenIdentity | typeof ADMIN;
  readonly logs: readonly string[];
  /** No entry that is wanted has a lower id. Absent: any may be wanted. */
  readonly since?: string;
}

/** An entry as it is stored. */
export type StoredEntry = ActivityRow | SegmentEntry;

const COLUMNS = ["id", "action", "result", "actor", "item", "version", "root_key_id", "sealed", "resource"] as const;
const SELECTED = COLUMNS.map((name) => (name === "item" ? "item_id" : name)).join(", ");

/**
 * A condition on a row. A filter of an Item also lets through the reads that name no Item in the clear: that of several Items has their
 * ids in the sealed text.
 */
const MATCHES = `
  coalesce(actor = ?3, 1) AND coalesce(action = ?4, 1) AND coalesce(result = ?5, 1)
  AND (?6 IS NULL OR item_id = ?6 OR (item_id IS NULL AND action = 'READ' AND result = 'SUCCESS'))
  AND (?7 IS NULL OR (item_id = ?7 AND coalesce(resource, 'VAULT') = 'VAULT'))`;

/** The same of an entry of a segment. What a damaged line has is not known. */
const matches = (entry: SegmentEntry, { actor, action, result, item, vault }: ActivityFilter): boolean =>
  entry.line === undefined ||
  ((actor === undefined || entry.actor === actor) &&
    (action === undefined || entry.action === action) &&
    (result === undefined || entry.result === result) &&
    (item === undefined ||
      entry.item === item ||
      (entry.item === null && entry.action === "READ" && entry.result === "SUCCESS")) &&
    (vault === undefined || (entry.item === vault && (entry.resource ?? "VAULT") === "VAULT")));

/** The bytes of segments that one call reads, but for the first segment of each log: of all logs, and of one, which are one value of at most 2 MB. */
const CALL_BYTES_MAX = 4_000_000;
const LOG_BYTES_MAX = 1_000_000;

/** The segments of a log that one call reads, unless more entries are asked for or the budget has fewer. */
const LOG_SEGMENTS_MAX = 64;

/** Comes after each id that begins with the one before it: that of a damaged line is the segment's with a point and a number. */
const AFTER = "/";

/** SQL: whether a page that ends at what `last_id` bounds would not be older than the id before which it begins. */
const OVERLAPS = `segments.last_id || '${AFTER}' >= starts.value ->> 2`;

/** SQL: whether a segment is read. In: `told` is the newer one before it. */
const IS_READ = `((${OVERLAPS} OR told.entries < ?2) AND told.bytes < ?8 AND told.number < ?9)`;

/**
 * The segments of a log that are read: those below a key, the newest first, until they have so many entries (?2) that are all before an id.
 * At least the first one, and at most so many bytes (?8) and segments (?9). The first segment after those is told without its text: `last_id`
 * bounds what was not read. A JSON array of them. It goes from segment to segment, because window functions read each one several times.
 */
const SEGMENTS = `
  WITH RECURSIVE told (number, id, last_id, isRead, entries, bytes, lines) AS (
    SELECT 0, starts.value ->> 3, NULL, 1, 0, 0, NULL
    UNION ALL
    SELECT told.number + 1, segments.id, segments.last_id, ${IS_READ},
      told.entries + CASE WHEN ${OVERLAPS} THEN 0 ELSE max(segments.entries, 1) END, told.bytes + octet_length(segments.lines),
      CASE WHEN ${IS_READ} THEN segments.lines END
    FROM told JOIN log_segments AS segments ON segments.vault_id = starts.value ->> 1
      AND segments.id = (SELECT max(id) FROM log_segments WHERE vault_id = starts.value ->> 1 AND id < told.id)
    WHERE told.isRead)
  SELECT json_group_array(json_array(id, last_id, lines)) FROM told WHERE number > 0`;

/** The newest entry that one of the logs has dropped. In: the number of the parameter with the logs. */
const newestDropped = (logs: number): string =>
  `(SELECT max(dropped) FROM logs WHERE vault_id IN (SELECT value FROM json_each(?${logs}))) AS dropped`;

const SQL = {
  // One row a log, with its entries as JSON: a join would read each entry several times.
  slices: `
    SELECT (
      SELECT json_array(count(*), min(id), json_group_array(json_array(${SELECTED})) FILTER (WHERE ${MATCHES}))
      FROM (SELECT * FROM activity WHERE vault_id = starts.value ->> 0 AND id < starts.value ->> 2 ORDER BY id DESC LIMIT ?2)
    ) AS slice, CASE
      WHEN EXISTS (SELECT 1 FROM log_segments WHERE vault_id = starts.value ->> 1 AND id < starts.value ->> 3) THEN (${SEGMENTS}) ELSE '[]'
    END AS segments
    FROM json_each(?1) AS starts ORDER BY starts.key`,
  // No log is counted after those that have more than is counted.
  total: `
    WITH RECURSIVE counted (number, total) AS (
      SELECT 0, (SELECT count(*) FROM (SELECT 1 FROM activity WHERE vault_id IN (SELECT value FROM json_each(?1)) LIMIT ?2))
      UNION ALL
      SELECT number + 1, total + coalesce((SELECT sum(max(entries, 0)) FROM (
        SELECT entries FROM log_segments WHERE vault_id = ?1 ->> number LIMIT ?2)), 0)
      FROM counted WHERE number < json_array_length(?1) AND total < ?2)
    SELECT max(total) AS total, ${newestDropped(3)} FROM counted`,
  dropped: `SELECT 0 AS total, ${newestDropped(1)}`,
};

interface SliceOptions {
  readonly countedLogs?: readonly string[];
  readonly reportedLogs?: readonly string[];
  readonly filter?: ActivityFilter | undefined;
  readonly reading: Reading;
}

/** Without its lines it was not read. */
type SegmentKey = readonly [id: string, lastId: string, lines: string | null];

/** The rows of a log that were read, the id of the last one, and those that match the filter. */
type SliceOfRows = readonly [rowCount: number, end: string | null, matching: unknown[][]];

interface SliceRow {
  /** A `SliceOfRows` as JSON. */
  readonly slice: string;
  /** A JSON array. */
  readonly segments: string;
}

/** What one call reads. */
interface SliceBounds {
  /** The most entries of a log. */
  readonly size: number;
  /** The rows that D1 may read for the segments of all logs. */
  readonly segmentRows: number;
  /** The segments of a log that are read whatever `segmentRows` is. */
  readonly segmentsMin: number;
}

/** A log of segments of which a slice is read. */
interface Part {
  readonly start: Start;
  readonly log: string;
  readonly rows: string | null;
}

/**
 * Reads at most `size` rows, and segments with so many entries, from each start on, in one D1 call, unless more segments overlap there than
 * one call reads. In: the logs to count too, and those of which to tell the newest entry that was dropped because there were too many.
 */
export async function readSlices(
  store: Store,
  { claims }: Reader,
  starts: readonly Start[],
  size: number,
  { countedLogs = [], reportedLogs = [], filter = {}, reading }: SliceOptions,
): Promise<Result<{ slices: Slice<StoredEntry>[]; total: number; dropped: string | undefined }>> {
  // The rows of a log are read with its first segments.
  const parts = starts.flatMap((start) =>
    segmentLogsOf(start.log).map((log, index): Part => ({ start, log, rows: index === 0 ? log : null })),
  );
  const listed = parts.map(({ start, log, rows }) => [rows, reading.ended.has(log) ? null : log, start.before, start.before]);
  const isFirst = reading.calls++ === 0;
  const segmentRows = segmentRowsMax(reading, starts.length * size);
  type Rows = [SliceRow, { total: number; dropped: string | null }];
  const statements = [
    slicesStatement(store, listed, { size, segmentRows, segmentsMin: 1, filter }),
    totalStatement(store, countedLogs, reportedLogs),
  ] as const;
  const answer = await (claims === ADMIN
    ? readBatch<Rows>(store, ...statements)
    : loadForToken<Rows>(store, claims, ...statements));
  if (!answer.ok) return answer;
  const [rows, [count]] = answer.value;
  const slicesOfRows = rows.map(({ slice }) => JSON.parse(slice) as SliceOfRows);
  // What is counted reads a row for each entry, or a segment, up to the limit: rows first, and then segments.
  const countedRows = Math.min(count!.total, 2 * LIMITS.countedActivity) + reportedLogs.length;
  reading.rows -= slicesOfRows.reduce((sum, [rowCount]) => sum + rowCount, countedRows);
  const segments = rows.map((row) => parseSegments(row, reading));
  for (const [index, { log }] of parts.entries()) if (segments[index]!.length === 0) reading.ended.add(log);
  const overlapping = await readOverlapping(store, parts, segments, { size, filter, reading });
  if (!overlapping.ok) return overlapping;
  const slices = parts.map(({ start, log }, index) => [
    sliceOfRows(start.log, slicesOfRows[index]!, size),
    sliceOfSegments(start, log, segments[index]!, { filter, isFirst }),
  ]);
  const slicesOfLogs = Map.groupBy(slices.flat(), ({ log }) => log);
  return ok({
    slices: [...slicesOfLogs].map(([log, slicesOfLog]) => combine(log, slicesOfLog)),
    total: count!.total,
    dropped: count!.dropped || undefined,
  });
}

/** Prepares a call. In: of each part the log of its rows, that of its segments, the id before which it begins, and the key below which its segments are read. */
function slicesStatement(
  store: Store,
  listed: readonly (string | null)[][],
  { size, segmentRows, segmentsMin, filter }: SliceBounds & { readonly filter: ActivityFilter },
): D1PreparedStatement {
  const { actor, action, result, item, vault } = filter;
  const values = [actor, action, result, item, vault].map((value) => value ?? null);
  const searched = Math.max(1, listed.filter(([, log]) => log !== null).length);
  const bytes = Math.min(LOG_BYTES_MAX, Math.floor(CALL_BYTES_MAX / searched));
  const segmentsMax = Math.max(segmentsMin, segmentsWithin(segmentRows, searched));
  const segments = Math.min(Math.max(size, LOG_SEGMENTS_MAX), segmentsMax);
  return store.db.prepare(SQL.slices).bind(JSON.stringify(listed), size, ...values, bytes, segments);
}

function totalStatement({ db }: Store, countedLogs: readonly string[], reportedLogs: readonly string[]): D1PreparedStatement {
  if (countedLogs.length === 0) return db.prepare(SQL.dropped).bind(JSON.stringify(reportedLogs));
  const logs = JSON.stringify(countedLogs.flatMap(segmentLogsOf));
  return db.prepare(SQL.total).bind(logs, LIMITS.countedActivity + 1, JSON.stringify(reportedLogs));
}

/**
 * Reads on below the segments that were read, while one that was not read may have the newest entries of the slice: several isolates have
 * flushed batches of the same time. Adds what it reads to `segments`. The first call of a page does so whatever the budget has: what it leaves
 * open, no later call can find.
 */
async function readOverlapping(
  store: Store,
  parts: readonly Part[],
  segments: SegmentKey[][],
  { size, filter, reading }: { readonly size: number; readonly filter: ActivityFilter; readonly reading: Reading },
): Promise<Result<void>> {
  for (; reading.overlapping > 0; reading.overlapping--) {
    const open = [...parts.entries()].filter(([index, { start }]) => (boundOf(segments[index]!) ?? "") >= start.before);
    if (open.length === 0 || (reading.calls > 1 && callsWithin(reading.rows, open.length) < 1)) break;
    const bounds = { size, segmentRows: reading.rows / 2, segmentsMin: OVERLAP_SEGMENTS_MIN };
    const listed = open.map(([index, { start, log }]) => [null, log, start.before, readOf(segments[index]!).at(-1)![0]]);
    const read = await readBatch<[SliceRow]>(store, slicesStatement(store, listed, { ...bounds, filter }));
    if (!read.ok) return read;
    for (const [number, [index]] of open.entries())
      segments[index] = [...readOf(segments[index]!), ...parseSegments(read.value[0][number]!, reading)];
  }
  return ok(undefined);
}

/** Takes the rows of the segments off the budget. */
function parseSegments({ segments }: SliceRow, reading: Reading): SegmentKey[] {
  const keys = JSON.parse(segments) as SegmentKey[];
  reading.rows -= rowsRead(keys.length);
  return keys;
}

/** The segments that were read, the newest first: none after the first one that was not. */
function readOf(segments: readonly SegmentKey[]): readonly SegmentKey[] {
  const unread = segments.findIndex(([, , lines]) => lines === null);
  return unread < 0 ? segments : segments.slice(0, unread);
}

/** What comes after all entries of the segments that were not read; `undefined`: all were read. */
function boundOf(segments: readonly SegmentKey[]): string | undefined {
  const unread = segments.find(([, , lines]) => lines === null);
  return unread && `${unread[0] > unread[1] ? unread[0] : unread[1]}${AFTER}`;
}

function sliceOfRows(log: string, [rowCount, end, matching]: SliceOfRows, size: number): Slice<StoredEntry> {
  const entries = matching.map((values) => {
    const columns = Object.fromEntries(COLUMNS.map((name, index) => [name, values[index]]));
    return Object.assign(columns, { log }) as unknown as ActivityRow;
  });
  return { log, entries, end: end ?? "", more: rowCount === size };
}

/**
 * The entries of segments that are certain: none that was not read comes between them. While segments that were not read still overlap,
 * there are none, and the page ends where the slice begins. Only in the first call of a page, which read `OVERLAP_CALLS_MAX` times, are those
 * that were read taken as certain, so that the pages go on.
 */
function sliceOfSegments(
  { log, before }: Start,
  segmentLog: string,
  segments: readonly SegmentKey[],
  { filter, isFirst }: { readonly filter: ActivityFilter; readonly isFirst: boolean },
): Slice<StoredEntry> {
  const complete = readOf(segments);
  const bound = boundOf(segments);
  const isOpen = bound !== undefined && bound >= before;
  if (isOpen && !isFirst) return { log, entries: [], end: before, more: true };
  const entries = complete
    .flatMap(([id, , lines]) => entriesOf({ log: segmentLog, id, lines: lines! }))
    .filter((entry) => entry.id < before && matches(entry, filter));
  return { log, entries, end: isOpen ? complete.at(-1)![0] : (bound ?? ""), more: bound !== undefined };
}
