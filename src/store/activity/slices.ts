import type { ActivityFilter } from "../../model/activity.ts";
import { LIMITS } from "../../model/limits.ts";
import { ADMIN } from "../../model/operation.ts";
import { ok, type Result } from "../../model/result.ts";
import { type ActivityRow } from "./entries.ts";
import { combine, type Slice, type Start } from "./merge.ts";
import { entriesOf, type SegmentEntry, segmentLogsOf } from "./segments.ts";
import { runningSum } from "../tables/slices.ts";
import { loadForToken } from "../vaults/authorized.ts";
import { runBatch, type Store } from "../d1/database.ts";
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

/** The segments whose sizes one call looks at: of all logs, and of one at least and at most, unless more entries are asked for. */
const CALL_SEGMENTS_MAX = 3_000;
const LOG_SEGMENTS_MIN = 16;
const LOG_SEGMENTS_MAX = 64;

/** The calls of a page that only read on in segments that overlap. On the free plan a request makes at most 50. */
export const OVERLAP_CALLS_MAX = 30;

/** SQL: whether a page that ends at what `last_id` bounds would not be older than the id before which it begins. */
const OVERLAPS = "last_id || '!' >= starts.value ->> 2";

/** SQL: the sum of what the later segments of a log have. */
const later = (count: string): string => `${runningSum(count, "id DESC")} - ${count}`;

/**
 * The segments of a log that are read: those below a key, the newest first, until they have so many entries (?2) that are all before an id.
 * At least the first one, and at most so many bytes (?8) and segments (?9). The first segment after those is told without its text: `last_id`
 * bounds what was not read. A JSON array of them.
 */
const SEGMENTS = `
  SELECT json_group_array(json_array(id, last_id, CASE WHEN isRead THEN (
    SELECT lines FROM log_segments WHERE vault_id = starts.value ->> 1 AND id = told.id) END))
  FROM (
    SELECT *, lag(isRead, 1, 1) OVER (ORDER BY id DESC) AS isTold FROM (
      SELECT id, last_id, (${OVERLAPS} OR ${later(`CASE WHEN ${OVERLAPS} THEN 0 ELSE max(entries, 1) END`)} < ?2)
        AND ${later("bytes")} < ?8 AND row_number() OVER (ORDER BY id DESC) <= ?9 AS isRead
      FROM (
        SELECT id, last_id, entries, octet_length(lines) AS bytes FROM log_segments
        WHERE vault_id = starts.value ->> 1 AND id < starts.value ->> 3 ORDER BY id DESC LIMIT ?9 + 1))) AS told
  WHERE isTold`;

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

/** What the calls of one page share. */
export interface PageCalls {
  /** The logs of segments that have none from the starts of earlier calls on. */
  readonly ended: Set<string>;
  /** How many calls may still read on in segments that overlap. */
  overlapping: number;
}

interface SliceOptions {
  readonly countedLogs?: readonly string[];
  readonly reportedLogs?: readonly string[];
  readonly filter?: ActivityFilter | undefined;
  readonly calls: PageCalls;
}

/** Without its lines it was not read. */
type SegmentKey = readonly [id: string, lastId: string, lines: string | null];

interface SliceRow {
  readonly slice: string;
  /** A JSON array. */
  readonly segments: string;
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
  { countedLogs = [], reportedLogs = [], filter = {}, calls }: SliceOptions,
): Promise<Result<{ slices: Slice<StoredEntry>[]; total: number; dropped: string | undefined }>> {
  // The rows of a log are read with its first segments.
  const parts = starts.flatMap((start) =>
    segmentLogsOf(start.log).map((log, index): Part => ({ start, log, rows: index === 0 ? log : null })),
  );
  const listed = parts.map(({ start, log, rows }) => [rows, calls.ended.has(log) ? null : log, start.before, start.before]);
  type Rows = [SliceRow, { total: number; dropped: string | null }];
  const statements = [slicesStatement(store, listed, size, filter), totalStatement(store, countedLogs, reportedLogs)] as const;
  const answer = await (claims === ADMIN
    ? runBatch<Rows>(store.db, ...statements)
    : loadForToken<Rows>(store, claims, ...statements));
  if (!answer.ok) return answer;
  const [rows, [count]] = answer.value;
  const segments = rows.map((row) => JSON.parse(row.segments) as SegmentKey[]);
  for (const [index, { log }] of parts.entries()) if (segments[index]!.length === 0) calls.ended.add(log);
  const overlapping = await readOverlapping(store, parts, segments, { size, filter, calls });
  if (!overlapping.ok) return overlapping;
  const slices = parts.map(({ start, log }, index) => [
    sliceOfRows(start.log, rows[index]!.slice, size),
    sliceOfSegments(start, log, segments[index]!, filter),
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
  size: number,
  filter: ActivityFilter,
): D1PreparedStatement {
  const { actor, action, result, item, vault } = filter;
  const values = [actor, action, result, item, vault].map((value) => value ?? null);
  const parts = Math.max(1, listed.filter(([, log]) => log !== null).length);
  const bytes = Math.min(LOG_BYTES_MAX, Math.floor(CALL_BYTES_MAX / parts));
  const segmentsMax = Math.max(
    LOG_SEGMENTS_MIN,
    Math.min(Math.max(size, LOG_SEGMENTS_MAX), Math.floor(CALL_SEGMENTS_MAX / parts)),
  );
  return store.db.prepare(SQL.slices).bind(JSON.stringify(listed), size, ...values, bytes, segmentsMax);
}

function totalStatement({ db }: Store, countedLogs: readonly string[], reportedLogs: readonly string[]): D1PreparedStatement {
  if (countedLogs.length === 0) return db.prepare(SQL.dropped).bind(JSON.stringify(reportedLogs));
  const logs = JSON.stringify(countedLogs.flatMap(segmentLogsOf));
  return db.prepare(SQL.total).bind(logs, LIMITS.countedActivity + 1, JSON.stringify(reportedLogs));
}

/**
 * Reads on below the segments that were read, while one that was not read may have the newest entries of the slice: several isolates have
 * flushed batches of the same time. Adds what it reads to `segments`.
 */
async function readOverlapping(
  store: Store,
  parts: readonly Part[],
  segments: SegmentKey[][],
  { size, filter, calls }: { readonly size: number; readonly filter: ActivityFilter; readonly calls: PageCalls },
): Promise<Result<void>> {
  for (; calls.overlapping > 0; calls.overlapping--) {
    const open = [...parts.entries()].filter(([index, { start }]) => (boundOf(segments[index]!) ?? "") >= start.before);
    if (open.length === 0) break;
    const listed = open.map(([index, { start, log }]) => [null, log, start.before, readOf(segments[index]!).at(-1)![0]]);
    const read = await runBatch<[SliceRow]>(store.db, slicesStatement(store, listed, size, filter));
    if (!read.ok) return read;
    for (const [number, [index]] of open.entries())
      segments[index] = [...readOf(segments[index]!), ...(JSON.parse(read.value[0][number]!.segments) as SegmentKey[])];
  }
  return ok(undefined);
}

/** The segments that were read, the newest first: none after the first one that was not. */
function readOf(segments: readonly SegmentKey[]): readonly SegmentKey[] {
  const unread = segments.findIndex(([, , lines]) => lines === null);
  return unread < 0 ? segments : segments.slice(0, unread);
}

/** What no entry of the segments that were not read comes after; `undefined`: all were read. No id comes between an id and the same with "!". */
function boundOf(segments: readonly SegmentKey[]): string | undefined {
  const unread = segments.find(([, , lines]) => lines === null);
  return unread && `${unread[0] > unread[1] ? unread[0] : unread[1]}!`;
}

function sliceOfRows(log: string, json: string, size: number): Slice<StoredEntry> {
  const [rowCount, end, matching] = JSON.parse(json) as [number, string | null, unknown[][]];
  const entries = matching.map((values) => {
    const columns = Object.fromEntries(COLUMNS.map((name, index) => [name, values[index]]));
    return Object.assign(columns, { log }) as unknown as ActivityRow;
  });
  return { log, entries, end: end ?? "", more: rowCount === size };
}

/**
 * The entries of segments that are certain: none that was not read comes between them. Where still more segments overlap than a page may
 * read, those that were read are taken as certain, so that the pages go on.
 */
function sliceOfSegments(
  { log, before }: Start,
  segmentLog: string,
  segments: readonly SegmentKey[],
  filter: ActivityFilter,
): Slice<StoredEntry> {
  const complete = readOf(segments);
  const bound = boundOf(segments);
  const end = bound === undefined || bound < before ? (bound ?? "") : complete.at(-1)![0];
  const entries = complete
    .flatMap(([id, , lines]) => entriesOf({ log: segmentLog, id, lines: lines! }))
    .filter((entry) => entry.id < before && matches(entry, filter));
  return { log, entries, end, more: bound !== undefined };
}
