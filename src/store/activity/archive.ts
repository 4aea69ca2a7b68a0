import { NOWHERE } from "../../crypto/seal.ts";
import { DAY, dayOf } from "../../model/time.ts";
import { timeOf, timePrefix } from "../../model/ids.ts";
import { defect, fail, ok, type Result } from "../../model/result.ts";
import type { ActivityRow } from "./entry-rows.ts";
import { HAND_OVER_START, type HandOver, lineKey, type Segment, splitLines } from "./segments.ts";
import type { Bucket } from "../buckets/bucket.ts";
import { listAll, pagesOf } from "../buckets/calls.ts";

/**
 * The archive of the activity log in R2: entries past their retention, those that a log has dropped, and the reads and denials that came
 * while D1 was nearly full. What is sealed is as in D1, so that an object can be read after the root key of its time was removed. The
 * objects of a day (UTC) are
 *
 *     log/<day>/<number>        rows that were moved from D1, numbered from 0 on (archiving.ts)
 *     log/<day>/s/<log>/<id>    the lines of a segment, with its key in D1, as in D1
 *
 * No vault has such an id, so no content has such a key.
 */

export const ARCHIVE = "log/";

const numberedKey = (day: string, number: number): string => `${ARCHIVE}${day}/${String(number).padStart(6, "0")}`;

const segmentKey = (day: string, log: string, id: string): string => `${segmentsOf(day)}${log}/${id}`;

/** What the keys of the segments of a day begin with: they come after its numbers. */
export const segmentsOf = (day: string): string => `${ARCHIVE}${day}/s/`;

/** The segment of an object of the archive; `undefined`: it has rows. */
export function segmentOf(key: string, lines: string): Segment | undefined {
  const [, log, id] = /^log\/[^/]+\/s\/([^/]+)\/(.+)$/.exec(key) ?? [];
  return log === undefined || id === undefined ? undefined : { log, id, lines };
}

/**
 * Archives a segment under its key, or a hand-over that is not in D1 as a segment of its own. Lines that the object has already stay: a
 * restored D1 has a segment again that has moved since, with other lines after those of both. Out: the calls of R2. Throws when R2 fails,
 * or another run has written the object meanwhile.
 */
export async function archiveSegment(bucket: Bucket, { log, id, lines }: Segment): Promise<number> {
  const key = segmentKey(dayOf(timeOf(id)), log, id);
  if ((await bucket.put(key, lines, { onlyIf: { etag: undefined } })) === "stored") return 1;
  const object = await bucket.get(key);
  if (!object) throw defect("an archived segment was deleted meanwhile");
  const earlier = await object.text();
  const all = mergeLines(earlier, lines);
  if (all === earlier) return 2;
  const written = await bucket.put(key, all, { onlyIf: { etag: object.etag } });
  if (written !== "stored") throw defect("an archived segment was written meanwhile");
  return ARCHIVE_SEGMENT_CALLS_MAX;
}

/** The most calls of R2 for a segment: when the archive has other lines of it. */
export const ARCHIVE_SEGMENT_CALLS_MAX = 3;

/** The lines of two texts, each once, the first text's before the others. */
export function mergeLines(first: string, second: string): string {
  const firstKeys = new Set(splitLines(first).map(lineKey));
  const added = splitLines(second).filter((line) => !firstKeys.has(lineKey(line)));
  return [first, ...added].filter((part) => part !== "").join("\n");
}

/** So many segments up to the one to which a hand-over belongs may have it: since it was stored, few can have come between. */
const SEARCH_SEGMENTS_MAX = 8;

/** The day (UTC) of a hand-over. */
export const dayOfHandOver = ({ first }: Pick<HandOver, "first">): string => dayOf(timeOf(first));

/**
 * The days of hand-overs of which the archive has segments: mostly none, because a day is archived when it is past the retention. A call of
 * R2 for each day. Throws when R2 fails.
 */
export async function listArchivedDays(bucket: Bucket, handOvers: readonly HandOver[]): Promise<ReadonlySet<string>> {
  const days = new Set<string>();
  for (const day of new Set(handOvers.map(dayOfHandOver))) {
    const { objects } = await bucket.list({ prefix: segmentsOf(day), limit: 1 });
    if (objects.length > 0) days.add(day);
  }
  return days;
}

/** Whether the archive has a hand-over. Throws when R2 fails. */
export async function isArchived(bucket: Bucket, { log, first }: HandOver): Promise<boolean> {
  const prefix = `${segmentsOf(dayOfHandOver({ first }))}${log}/`;
  const keys = (await listAll(bucket, prefix)).map(({ key }) => key).filter((key) => key <= prefix + first);
  for (const key of keys.slice(-SEARCH_SEGMENTS_MAX))
    if ((await (await bucket.get(key))?.text())?.includes(`${HAND_OVER_START}${first}"`)) return true;
  return false;
}

/**
 * Writes a numbered object, unless it exists. Out: the rows that it has: those of another run when that was first. The rows
 * of a number never change. Throws when R2 fails.
 */
export async function archiveNumbered(
  bucket: Bucket,
  day: string,
  number: number,
  rows: readonly ActivityRow[],
): Promise<readonly ActivityRow[]> {
  const written = await bucket.put(numberedKey(day, number), JSON.stringify(rows), { onlyIf: { etag: undefined } });
  if (written === "stored") return rows;
  // One that cannot be read ends the run: what it has is not known, so nothing leaves D1.
  const text = await (await bucket.get(numberedKey(day, number)))?.text();
  return text === undefined ? [] : (JSON.parse(text) as ActivityRow[]);
}

/**
 * Loads a numbered object. In: the log that an export is of: what does not tell its log may be of any. Out: `undefined` when there is no such
 * object; a broken row in place of what is none of the day. Throws when R2 fails.
 */
export async function loadNumbered(
  bucket: Bucket,
  day: string,
  number: number,
  log = NOWHERE,
): Promise<ActivityRow[] | undefined> {
  const text = await (await bucket.get(numberedKey(day, number)))?.text();
  if (text === undefined) return undefined;
  const parsed = parseArchive(text);
  return (parsed.ok ? parsed.value : [undefined]).map((row, index) => rowOf(day, log, `${number}.${index}`, row));
}

/** Whether an id is one of a day. */
export const isOfDay = (day: string, id: unknown): boolean =>
  typeof id === "string" && id > timePrefix(Date.parse(day)) && id < timePrefix(Date.parse(day) + DAY);

/** The id of an entry in place of something in the archive that is none: an export of the day names it. In: its place in the day. */
export const brokenId = (day: string, place: string): string => `${timePrefix(Date.parse(day))}.${place}`;

/** A row of an object; a broken one in place of a value that is none of the day. In: the log and the place in the day of that one. */
export function rowOf(day: string, log: string, place: string, row: Partial<ActivityRow> | null | undefined): ActivityRow {
  const isRow = [row?.log, row?.root_key_id, row?.sealed].every((text) => typeof text === "string") && isOfDay(day, row?.id);
  return isRow ? (row as ActivityRow) : ({ log, id: brokenId(day, place) } as ActivityRow);
}

/** Parses the text of an object. Errors: `integrity`. */
export function parseArchive(text: string): Result<ActivityRow[]> {
  try {
    const rows: unknown = JSON.parse(text);
    return Array.isArray(rows) ? ok(rows as ActivityRow[]) : fail("integrity");
  } catch {
    return fail("integrity");
  }
}

/** Of a thousand objects each. */
const RUN_LISTS_MAX = 5;

/**
 * Deletes the objects of the days before that of a time (Unix milliseconds), some thousands in one run. Out: how many were
 * deleted. The keys are in the order of their days. Throws when R2 fails.
 */
export async function deleteOldArchives(bucket: Bucket, before: number): Promise<number> {
  let deleted = 0;
  for await (const { objects } of pagesOf(bucket, { prefix: ARCHIVE }, RUN_LISTS_MAX)) {
    const old = objects.map(({ key }) => key).filter((key) => key < ARCHIVE + dayOf(before));
    await bucket.delete(old);
    deleted += old.length;
    if (old.length < objects.length) break;
  }
  return deleted;
}
