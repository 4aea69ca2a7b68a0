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

/** The most bytes of the segments of a log that one call reads, but for the first one: they are one value, which D1 limits to 2 MB. */
const SEGMENTS_BYTES_MAX = 1_000_000;

/** So many segments may have entries on both sides of an id, because the flushes of several isolates overlap. */
const OVERLAPPING_MAX = 64;

/** SQL: whether a page that ends at what `last_id` bounds would not be older than the id before which it begins. */
const OVERLAPS = "last_id || '!' >= starts.value ->> 2";

/** SQL: the sum of what the later segments of a log have. */
const later = (count: string): string => `${runningSum(count, "id DESC")} - ${count}`;

/**
 * The segments of a log that are read: those with entries before an id, the newest first, until they have so many entries (?2) that are all
 * before it. The first segment after those is told without its text: `last_id` bounds what was not read. A JSON array of them.
 */
const SEGMENTS = `
  SELECT json_group_array(json_array(id, last_id, CASE WHEN isRead THEN (
    SELECT lines FROM log_segments WHERE vault_id = starts.value ->> 1 AND id = told.id) END))
  FROM (
    SELECT *, lag(isRead, 1, 1) OVER (ORDER BY id DESC) AS isTold FROM (
      SELECT id, last_id, (${OVERLAPS} OR ${later(`CASE WHEN ${OVERLAPS} THEN 0 ELSE max(entries, 1) END`)} < ?2)
        AND ${later("bytes")} < ${SEGMENTS_BYTES_MAX} AS isRead
      FROM (
        SELECT id, last_id, entries, octet_length(lines) AS bytes FROM log_segments
        WHERE vault_id = starts.value ->> 1 AND id < starts.value ->> 2 ORDER BY id DESC LIMIT max(?2, ${OVERLAPPING_MAX}) + 1))) AS told
  WHERE isTold`;

const SQL = {
  // One row a log, with its entries as JSON: a join would read each entry several times.
  slices: `
    SELECT (
      SELECT json_array(count(*), min(id), json_group_array(json_array(${SELECTED})) FILTER (WHERE ${MATCHES}))
      FROM (SELECT * FROM activity WHERE vault_id = starts.value ->> 0 AND id < starts.value ->> 2 ORDER BY id DESC LIMIT ?2)
    ) AS slice, CASE
      WHEN starts.value ->> 1 IS NOT NULL AND EXISTS (SELECT 1 FROM log_segments WHERE vault_id = starts.value ->> 1 AND id < starts.value ->> 2) THEN json_array(json((${SEGMENTS})), (
        SELECT sum(max(entries, 0)) FROM (SELECT entries FROM log_segments WHERE vault_id = starts.value ->> 1 LIMIT ?8))) ELSE '[[],0]'
    END AS segments
    FROM json_each(?1) AS starts ORDER BY starts.key`,
  total: `
    SELECT count(*) AS total, (SELECT max(dropped) FROM logs WHERE vault_id IN (SELECT value FROM json_each(?3))) AS dropped
    FROM (SELECT 1 FROM activity WHERE vault_id IN (SELECT value FROM json_each(?1)) LIMIT ?2)`,
};

interface Wanted {
  readonly counted?: readonly string[];
  readonly told?: readonly string[];
  readonly filter?: ActivityFilter | undefined;
  /** The logs of segments that have none from the starts of earlier calls of the page on: this call adds to them. */
  readonly ended?: Set<string>;
}

/** Without its lines it was not read. */
type SegmentKey = readonly [id: string, lastId: string, lines: string | null];

interface SliceRow {
  readonly slice: string;
  /** A JSON array of the segments, and of how many entries are counted. */
  readonly segments: string;
}

/**
 * Reads at most `size` rows, and segments with so many entries, from each start on, in one D1 call. In: the logs to count too, and those of
 * which to tell the newest entry that was dropped because there were too many.
 */
export async function readSlices(
  store: Store,
  { claims }: Reader,
  starts: readonly Start[],
  size: number,
  { counted = [], told = [], filter = {}, ended = new Set() }: Wanted,
): Promise<Result<{ slices: Slice<StoredEntry>[]; total: number; dropped: string | undefined }>> {
  const { actor, action, result, item, vault } = filter;
  const values = [actor, action, result, item, vault].map((value) => value ?? null);
  // The rows of a log are read with its first segments.
  const parts = starts.flatMap((start) =>
    segmentLogsOf(start.log).map((log, index) => ({ start, log, rows: index === 0 ? log : null })),
  );
  const listed = JSON.stringify(parts.map(({ start, log, rows }) => [rows, ended.has(log) ? null : log, start.before]));
  const most = counted.length > 0 ? LIMITS.countedActivity + 1 : 0;
  const statements = [
    store.db.prepare(SQL.slices).bind(listed, size, ...values, most),
    store.db.prepare(SQL.total).bind(JSON.stringify(counted), LIMITS.countedActivity + 1, JSON.stringify(told)),
  ] as const;
  type Rows = [SliceRow, { total: number; dropped: string | null }];
  const answer = await (claims === ADMIN
    ? runBatch<Rows>(store.db, ...statements)
    : loadForToken<Rows>(store, claims, ...statements));
  if (!answer.ok) return answer;
  const [rows, [count]] = answer.value;
  const segments = rows.map((row) => JSON.parse(row.segments) as [SegmentKey[], number | null]);
  const slices = parts.map(({ start, log }, index) => [
    sliceOfRows(start.log, rows[index]!.slice, size),
    sliceOfSegments(start, log, segments[index]![0], filter),
  ]);
  for (const [index, { log }] of parts.entries()) if (segments[index]![0].length === 0) ended.add(log);
  const ofLogs = Map.groupBy(slices.flat(), ({ log }) => log);
  return ok({
    slices: [...ofLogs].map(([log, some]) => combine(log, some)),
    total: segments.reduce((sum, [, entries]) => sum + (entries ?? 0), count!.total),
    dropped: count!.dropped || undefined,
  });
}

function sliceOfRows(log: string, json: string, size: number): Slice<StoredEntry> {
  const [read, end, found] = JSON.parse(json) as [number, string | null, unknown[][]];
  const entries = found.map((values) => {
    const columns = Object.fromEntries(COLUMNS.map((name, index) => [name, values[index]]));
    return Object.assign(columns, { log }) as unknown as ActivityRow;
  });
  return { log, entries, end: end ?? "", more: read === size };
}

/**
 * The entries of segments that are certain: none that was not read comes between them. No id comes between an id and the same with "!". Of
 * damaged rows the bound may be none; then those that were read are taken as certain, so that the pages go on.
 */
function sliceOfSegments(
  { log, before }: Start,
  of: string,
  segments: readonly SegmentKey[],
  filter: ActivityFilter,
): Slice<StoredEntry> {
  const read = segments.filter(([, , lines]) => lines !== null);
  const unread = segments.find(([, , lines]) => lines === null);
  const bound = unread && `${unread[0] > unread[1] ? unread[0] : unread[1]}!`;
  const end = bound === undefined ? "" : bound < before ? bound : read.map(([id]) => id).toSorted()[0]!;
  const entries = read
    .flatMap(([id, , lines]) => entriesOf({ log: of, id, lines: lines! }))
    .filter((entry) => entry.id < before && matches(entry, filter));
  return { log, entries, end, more: unread !== undefined };
}
