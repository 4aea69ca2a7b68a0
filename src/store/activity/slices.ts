import type { ActivityFilter } from "../../model/activity.ts";
import { LIMITS } from "../../model/limits.ts";
import { ADMIN } from "../../model/operation.ts";
import { ok, type Result } from "../../model/result.ts";
import { readBatch, type Store } from "../d1/database.ts";
import { loadForToken } from "../vaults/authorized.ts";
import type { TokenIdentity } from "../vaults/token-check.ts";
import { type ActivityRow } from "./entry-rows.ts";
import { combine, NEWEST, type ReadSlices, type Slice, type Start } from "./merge.ts";
import { CELLS, entriesOf, type SegmentEntry, segmentLogsOf, smallestCell } from "./segments.ts";

/** Reads slices of the activity log: consecutive entries of each log that match a filter. */

/** The reader and the logs. `claims` is the token; `admin` stands for the admin, whom the guard has authenticated. */
export interface Reader {
  readonly claims: TokenIdentity | typeof ADMIN;
  readonly logs: readonly string[];
  /** No requested entry has a lower id. Absent: any may be wanted. */
  readonly since?: string;
}

/** An entry as it is stored. */
export type StoredEntry = ActivityRow | SegmentEntry;

const COLUMNS = ["id", "action", "result", "actor", "item", "version", "root_key_id", "sealed", "resource"] as const;
const SELECTED = COLUMNS.map((name) => (name === "item" ? "item_id" : name)).join(", ");

/**
 * A condition on a row. A filter by Item also accepts reads without a plaintext Item: a read of several Items has their ids in the sealed
 * text.
 */
const MATCHES = `
  coalesce(actor = ?3, 1) AND coalesce(action = ?4, 1) AND coalesce(result = ?5, 1)
  AND (?6 IS NULL OR item_id = ?6 OR (item_id IS NULL AND action = 'READ' AND result = 'SUCCESS'))
  AND (?7 IS NULL OR (item_id = ?7 AND coalesce(resource, 'VAULT') = 'VAULT'))`;

/** The same of an entry of a segment. The contents of a damaged line are unknown. */
const matches = (entry: SegmentEntry, { actor, action, result, item, vault }: ActivityFilter): boolean =>
  entry.line === undefined ||
  ((actor === undefined || entry.actor === actor) &&
    (action === undefined || entry.action === action) &&
    (result === undefined || entry.result === result) &&
    (item === undefined ||
      entry.item === item ||
      (entry.item === null && entry.action === "READ" && entry.result === "SUCCESS")) &&
    (vault === undefined || (entry.item === vault && (entry.resource ?? "VAULT") === "VAULT")));

/**
 * Bytes of segments that one call reads, but for the first segment of each log: of all logs, and of one log, whose segments are one value of
 * at most 2 MB.
 */
const CALL_BYTES_MAX = 2_000_000;
const LOG_BYTES_MAX = 1_000_000;

/** Segments of a log that one call reads, unless more entries are wanted or fewer rows may be read. */
const LOG_SEGMENTS_MAX = 64;

/** The maximum number of rows that D1 counts for a segment of a log, and for each log with segments. */
const SEGMENT_ROWS = 4;
const LOG_ROWS = 10;

/** Returns the number of segments of each log for which this many rows suffice. */
const segmentsWithin = (rows: number, logs: number): number => Math.floor((rows / logs - LOG_ROWS) / SEGMENT_ROWS);

/**
 * The segments of a log that are read are those below an id, the newest first, until they have enough entries (?2), bytes (?8) or segments
 * (?9). Then come those whose cells contain the last one. A JSON array of the key of the last one, the next key below it, and both. A key
 * sorts before all ids of its cell, so these are all segments with ids from the last key on. It goes from segment to segment, because
 * window functions read each one several times.
 */
const SEGMENTS = `
  WITH RECURSIVE told (number, id, entries, bytes, lines) AS (
    SELECT 0, starts.value ->> 2, 0, 0, NULL
    UNION ALL
    SELECT told.number + 1, segments.id,
      told.entries + CASE WHEN substr(starts.value ->> 2, 1, length(segments.id)) = segments.id THEN 0 ELSE max(segments.entries, 1) END,
      told.bytes + octet_length(segments.lines), segments.lines
    FROM told JOIN log_segments AS segments ON segments.vault_id = starts.value ->> 1
      AND segments.id = (SELECT max(id) FROM log_segments WHERE vault_id = starts.value ->> 1 AND id < told.id)
    WHERE told.entries < ?2 AND told.bytes < ?8 AND told.number < ?9)
  SELECT json_array(
    oldest,
    (SELECT max(id) FROM log_segments WHERE vault_id = starts.value ->> 1 AND id < oldest),
    json(read),
    (SELECT json_group_array(json_array(id, lines)) FROM log_segments WHERE vault_id = starts.value ->> 1 AND id < oldest
      AND id IN (${CELLS.map((digits) => `substr(oldest, 1, ${digits})`).join(", ")})))
  FROM (SELECT min(id) AS oldest, json_group_array(json_array(id, lines)) FILTER (WHERE number > 0) AS read FROM told)`;

/** Returns SQL of the newest entry that any of the logs has dropped. `logs` is the number of the parameter with the logs. */
const newestDropped = (logs: number): string =>
  `(SELECT max(dropped) FROM logs WHERE vault_id IN (SELECT value FROM json_each(?${logs}))) AS dropped`;

const SQL = {
  // One row per log, with its entries as JSON: a join would read each entry several times.
  slices: `
    SELECT (
      SELECT json_array(count(*), min(id), json_group_array(json_array(${SELECTED})) FILTER (WHERE ${MATCHES}))
      FROM (SELECT * FROM activity WHERE vault_id = starts.value ->> 0 AND id < starts.value ->> 2 ORDER BY id DESC LIMIT ?2)
    ) AS slice, CASE
      WHEN EXISTS (SELECT 1 FROM log_segments WHERE vault_id = starts.value ->> 1 AND id < starts.value ->> 2) THEN (${SEGMENTS}) ELSE '["",null,[],[]]'
    END AS segments
    FROM json_each(?1) AS starts ORDER BY starts.key`,
  // Counting stops after the log that exceeds the limit.
  total: `
    WITH RECURSIVE counted (number, total) AS (
      SELECT 0, (SELECT count(*) FROM (SELECT 1 FROM activity WHERE vault_id IN (SELECT value FROM json_each(?1)) LIMIT ?2))
      UNION ALL
      SELECT number + 1, total + coalesce((SELECT sum(max(entries, 0)) FROM (
        SELECT entries FROM log_segments WHERE vault_id = ?1 ->> number LIMIT ?2)), 0)
      FROM counted WHERE number < json_array_length(?1) AND total < ?2)
    SELECT max(total) AS total, ${newestDropped(3)} FROM counted`,
  /** The segments under ids of a cell that come before those that were read. */
  rest: `
    SELECT starts.key AS part, log_segments.id, lines FROM json_each(?1) AS starts
    CROSS JOIN log_segments ON vault_id = starts.value ->> 0 AND log_segments.id > ?2 AND log_segments.id < starts.value ->> 1`,
  dropped: `SELECT 0 AS total, ${newestDropped(1)}`,
};

export interface SliceOptions {
  readonly filter?: ActivityFilter | undefined;
  /** The logs whose newest dropped entry is returned. */
  readonly reportedLogs?: readonly string[];
  /** True if the entries of these logs are counted too. */
  readonly isCounted?: boolean | undefined;
}

type Segments = readonly (readonly [id: string, lines: string])[];
type SliceOfSegments = readonly [oldest: string, next: string | null, segments: Segments, cells: Segments];

/** The rows of a log that were read, the last id, and the rows that match the filter. */
type SliceOfRows = readonly [rowCount: number, end: string | null, matching: unknown[][]];

interface SliceRow {
  /** A `SliceOfRows` as JSON. */
  readonly slice: string;
  /** A `SliceOfSegments` as JSON. */
  readonly segments: string;
}

/** Reads at most `size` rows, and segments with as many entries, from each start on, in one D1 call of at most `rowsMax` rows. */
export async function readSlices(
  store: Store,
  { claims }: Reader,
  [starts, size, rowsMax]: Parameters<ReadSlices<StoredEntry>>,
  { filter = {}, reportedLogs = [], isCounted = false }: SliceOptions,
): Promise<Result<{ slices: Slice<StoredEntry>[]; total: number; dropped: string | undefined }>> {
  // The rows of a log are read with its first segments.
  const parts = starts.flatMap((start) =>
    segmentLogsOf(start.log).map((log, index) => ({ start, log, rows: index === 0 ? log : null })),
  );
  const listed = parts.map(({ start, log, rows }) => [rows, log, start.before]);
  type Rows = [SliceRow, { total: number; dropped: string | null }];
  const statements = [
    slicesStatement(store, listed, size, rowsMax - starts.length * size, filter),
    totalStatement(store, reportedLogs, isCounted),
  ] as const;
  const answer = await (claims === ADMIN
    ? readBatch<Rows>(store, ...statements)
    : loadForToken<Rows>(store, claims, ...statements));
  if (!answer.ok) return answer;
  const [rows, [count]] = answer.value;
  const segments = rows.map((row) => JSON.parse(row.segments) as SliceOfSegments);
  const rest = await readRest(store, parts, segments);
  if (!rest.ok) return rest;
  const slices = parts.flatMap(({ start, log }, index): Slice<StoredEntry>[] => {
    const slice = JSON.parse(rows[index]!.slice) as SliceOfRows;
    return [sliceOfRows(start.log, slice, size), sliceOfSegments(start, log, rest.value[index]!, filter)];
  });
  const slicesOfLogs = Map.groupBy(slices, ({ log }) => log);
  return ok({
    slices: [...slicesOfLogs].map(([log, slicesOfLog]) => combine(log, slicesOfLog)),
    total: count!.total,
    dropped: count!.dropped || undefined,
  });
}

/**
 * Prepares a call. Each part has the log of its rows, the log of its segments, and the id before which it begins. D1 may read a limited
 * number of rows for the segments of all logs.
 */
function slicesStatement(
  store: Store,
  listed: readonly (string | null)[][],
  size: number,
  segmentRows: number,
  { actor, action, result, item, vault }: ActivityFilter,
): D1PreparedStatement {
  const values = [actor, action, result, item, vault].map((value) => value ?? null);
  const searched = Math.max(1, listed.length);
  const bytes = Math.min(LOG_BYTES_MAX, Math.floor(CALL_BYTES_MAX / searched));
  const segments = Math.min(Math.max(size, LOG_SEGMENTS_MAX), Math.max(1, segmentsWithin(segmentRows, searched)));
  return store.db.prepare(SQL.slices).bind(JSON.stringify(listed), size, ...values, bytes, segments);
}

function totalStatement({ db }: Store, logs: readonly string[], isCounted: boolean): D1PreparedStatement {
  const reported = JSON.stringify(logs);
  if (!isCounted) return db.prepare(SQL.dropped).bind(reported);
  return db.prepare(SQL.total).bind(JSON.stringify(logs.flatMap(segmentLogsOf)), LIMITS.countedActivity + 1, reported);
}

function sliceOfRows(log: string, [rowCount, end, matching]: SliceOfRows, size: number): Slice<StoredEntry> {
  const entries = matching.map((values) => {
    const columns = Object.fromEntries(COLUMNS.map((name, index) => [name, values[index]]));
    return Object.assign(columns, { log }) as unknown as ActivityRow;
  });
  return { log, entries, end: end ?? "", more: rowCount === size };
}

/** Returns true if the smallest cell of the last read segment has more segments, under ids. These may have any id of the cell. */
const isCut = ([oldest, next]: SliceOfSegments): boolean => next !== null && next > smallestCell(oldest);

/**
 * Reads on to the beginning of the newest of the cut cells, so that a page has entries. A cell holds no more than D1 takes in four seconds.
 */
async function readRest(
  store: Store,
  parts: readonly { readonly log: string }[],
  slices: readonly SliceOfSegments[],
): Promise<Result<readonly SliceOfSegments[]>> {
  const cell = slices
    .filter(isCut)
    .map(([oldest]) => smallestCell(oldest))
    .toSorted()
    .at(-1);
  if (cell === undefined) return ok(slices);
  const starts = slices.map((slice, index) => [isCut(slice) && slice[0] > cell ? parts[index]!.log : null, slice[0]]);
  const read = await readBatch<[{ part: number; id: string; lines: string }]>(
    store,
    store.db.prepare(SQL.rest).bind(JSON.stringify(starts), cell),
  );
  if (!read.ok) return read;
  const rest = Map.groupBy(read.value[0], ({ part }) => part);
  return ok(
    slices.map((slice, index): SliceOfSegments => {
      const more = rest.get(index)?.map(({ id, lines }) => [id, lines] as const);
      // Entries before the cell are unknown, so there may be more.
      return more ? [cell, "", [...slice[2], ...more], slice[3]] : slice;
    }),
  );
}

/**
 * The entries of the segments that were read. They are complete from the key of the oldest segment on, or from the end of its cell if the
 * cell is cut.
 */
function sliceOfSegments(
  { log, before }: Start,
  segmentLog: string,
  slice: SliceOfSegments,
  filter: ActivityFilter,
): Slice<StoredEntry> {
  const [oldest, next, segments, cells] = slice;
  const end = isCut(slice) ? `${smallestCell(oldest)}${NEWEST}` : oldest;
  const entries = [...segments, ...cells]
    .flatMap(([id, lines]) => entriesOf({ log: segmentLog, id, lines }))
    .filter((entry) => entry.id < before && matches(entry, filter));
  return { log, entries, end: next === null ? "" : end, more: next !== null };
}
