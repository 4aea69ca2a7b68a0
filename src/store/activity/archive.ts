import { NOWHERE } from "../../crypto/seal.ts";
import { timeOf, timePrefix } from "../../model/ids.ts";
import { DAY, dayOf, HOUR } from "../../model/time.ts";
import type { Bucket, ObjectHead } from "../buckets/bucket.ts";
import { pagesOf } from "../buckets/calls.ts";
import type { ActivityRow } from "./entry-rows.ts";
import { dayOfKey, entriesOf, firstIdOf, largestCell, type Segment } from "./segments.ts";
import type { StoredEntry } from "./slices.ts";

/**
 * The archive of the activity log in R2. Texts are sealed as in D1, so that an object can be read after the root key of its time was
 * removed. An object is a JSON array of rows of `activity`, or of segments, in the order of their logs and ids. The objects of a day (UTC)
 * are
 *
 *     log/<day>/part/<kind>/<log>/<id>/<log>/<id>/<hash>   with the keys of the first and of the last row: `PartKind`
 *     log/<day>/late/<log>/<id>                            one hand-over, with its id
 *
 * In a key a log has "_" for ":", which Windows does not allow in file names. Several objects may have the same entry: the export shows it
 * once. No vault has such an id, so no content has such a key.
 */

export const ARCHIVE = "log/";

/** Rows that leave D1; the copy of all segments of the day; segments that a log dropped because it had too many bytes. */
export type PartKind = "rows" | "copy" | "dropped";

/** Returns the prefix of the keys of a day's objects, except late hand-overs. */
export const partsOf = (day: string, kind?: PartKind): string => `${ARCHIVE}${day}/part/${kind ? `${kind}/` : ""}`;

/** Returns the prefix of the keys of a day's late hand-overs. */
export const lateOf = (day: string): string => `${ARCHIVE}${day}/late/`;

/** A place in the order of an archive and of an export: a log of segments, and an id or a key. */
export type Place = readonly [log: string, id: string];

export const isBefore = ([log, id]: Place, [otherLog, otherId]: Place): boolean =>
  log === otherLog ? id < otherId : log < otherLog;

/** Before and after all places. */
export const FIRST: Place = ["", ""];
export const END: Place = ["~", "~"];

/**
 * Time after its day (UTC) from which a hand-over is late, and at which the segments of the day are copied. By then, everything that is not
 * late is in D1.
 */
const LATE_MS = HOUR;
export const COPY_MS = 2 * HOUR;

/** Returns true if the segments of the day of an id may have been copied. `now` is in Unix milliseconds. */
export const isLate = (id: string, now: number): boolean => Date.parse(dayOf(timeOf(id))) + DAY + LATE_MS <= now;

const nameOf = (text: string): string => text.replaceAll(/[^0-9a-z-]/g, "_");
const logOfName = (name: string): string => name.replace("_", ":");

/** Returns the key of a late hand-over; for a smallest cell, the prefix before its hand-overs. */
export const lateKey = (day: string, [log, id]: Place): string => `${lateOf(day)}${nameOf(log)}/${id}`;

/** Archives a hand-over as a segment of its own. Throws when R2 fails. */
export async function archiveLate(bucket: Bucket, segment: Segment): Promise<void> {
  await bucket.put(lateKey(dayOfKey(segment.id), [segment.log, segment.id]), JSON.stringify([segment]));
}

/** Archives rows, in the order of their keys. The name has their hash: other rows make another object. Throws when R2 fails. */
export async function archivePart(
  bucket: Bucket,
  day: string,
  kind: PartKind,
  rows: readonly (ActivityRow | Segment)[],
): Promise<void> {
  const bytes = new TextEncoder().encode(JSON.stringify(rows, (name, value: unknown) => (name === "bytes" ? undefined : value)));
  const [first, last] = [rows[0]!, rows.at(-1)!];
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex().slice(0, 32);
  await bucket.put(partsOf(day, kind) + [first.log, first.id, last.log, last.id, hash].map(nameOf).join("/"), bytes);
}

/** An object of the archive, as described by its key. An object whose key describes nothing may hold any entry. */
export interface ArchiveObject {
  readonly key: string;
  readonly size: number;
  readonly day: string;
  readonly first: Place;
  readonly last: Place;
}

export function objectOf({ key, size }: Pick<ObjectHead, "key" | "size">): ArchiveObject {
  const [, day = "", folder, ...names] = key.split("/");
  const [log, id, lastLog = log, lastId = id] = folder === "late" ? names : names.slice(1);
  const isKnown = log !== undefined && id !== undefined && lastLog !== undefined && lastId !== undefined;
  return { key, size, day, first: isKnown ? [logOfName(log), id] : FIRST, last: isKnown ? [logOfName(lastLog), lastId] : END };
}

/** Returns the place after all entries of an object: a segment may have ids up to the end of its cell. */
export const endOf = ({ last: [log, id] }: ArchiveObject): Place => [log, `${largestCell(id)}~`];

/** An entry of the archive or of D1, with its place. */
export interface PlacedEntry {
  readonly place: Place;
  readonly entry: StoredEntry;
}

/**
 * Reads the entries of an object. A broken entry replaces a misplaced row or an unreadable text. `vault` is the log of an export; an
 * unreadable row may belong to any log.
 */
export function readObject(object: ArchiveObject, text: string, vault?: string): PlacedEntry[] {
  const rows = parseArray(text) ?? [undefined];
  const [log, id] = object.first;
  const start = timePrefix(Date.parse(object.day) || 0);
  const least = firstIdOf(vault !== undefined && log !== vault ? start : id > start ? id : start);
  return rows.flatMap((row, index): PlacedEntry[] => {
    if (isRowOf(object, row)) return placedEntries(row);
    const broken = { log: vault ?? NOWHERE, id: `${least}.${object.key.slice(-8)}.${index}` };
    return [{ place: [vault ?? log, broken.id], entry: broken as ActivityRow }];
  });
}

/** Returns the entries of a row of `activity`, or of a segment. */
export const placedEntries = (row: ActivityRow | Segment): PlacedEntry[] =>
  "lines" in row
    ? entriesOf(row).map((entry) => ({ place: [row.log, entry.id], entry }))
    : [{ place: [row.log, row.id], entry: row }];

function parseArray(text: string): unknown[] | undefined {
  try {
    const rows: unknown = JSON.parse(text);
    return Array.isArray(rows) ? rows : undefined;
  } catch {
    return undefined;
  }
}

/** Returns true if a value is a row, of the day and between the first and the last one of an object. */
function isRowOf({ day, first, last }: ArchiveObject, value: unknown): value is ActivityRow | Segment {
  const row = value as Partial<ActivityRow & Segment> | null;
  if (typeof row?.log !== "string" || typeof row.id !== "string" || !/^[0-9a-f]{6}/.test(row.id)) return false;
  const isWhole = typeof row.lines === "string" || (typeof row.root_key_id === "string" && typeof row.sealed === "string");
  const place: Place = [row.log, row.id];
  return isWhole && dayOfKey(row.id) === day && !isBefore(place, first) && !isBefore(last, place);
}

/** List calls of a run, with a thousand objects each. */
const RUN_LISTS_MAX = 5;

/**
 * Deletes the objects of the days before a time (Unix milliseconds), some thousands in one run. The keys are in the
 * order of days. Throws if R2 fails.
 */
export async function deleteOldArchives(bucket: Bucket, before: number): Promise<void> {
  for await (const { objects } of pagesOf(bucket, { prefix: ARCHIVE }, RUN_LISTS_MAX)) {
    const old = objects.map(({ key }) => key).filter((key) => key < ARCHIVE + dayOf(before));
    await bucket.delete(old);
    if (old.length < objects.length) break;
  }
}
