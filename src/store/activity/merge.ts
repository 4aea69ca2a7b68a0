import { ok, type Result } from "../../model/result.ts";

/**
 * Merges the newest entries of several logs. Each log is in the order of its ids, which are unique in all logs and sort by
 * time. Nothing here knows SQL: the caller reads the slices.
 */

interface Identified {
  readonly id: string;
}

/** The start of a slice: the newest entry of a log that is older than an id. */
export interface Start {
  readonly log: string;
  readonly before: string;
}

/** Consecutive entries of one log, newest first; of filtered logs, the matching entries. */
export interface Slice<Entry extends Identified> {
  readonly log: string;
  readonly entries: readonly Entry[];
  /** All entries from this id on were read, whether or not they match. It is the id of the last entry, or the bound of an unread one. */
  readonly end: string;
  /** True if the log may have older entries. */
  readonly more: boolean;
}

/** Reads about `size` entries from each start on, in one call, and at most `rowsMax` rows of D1. Returns a slice for each start. */
export type ReadSlices<Entry extends Identified> = (
  starts: readonly Start[],
  size: number,
  rowsMax: number,
) => Promise<Result<Slice<Entry>[]>>;

/** Comes after all ids. */
export const NEWEST = "g";

/**
 * Entries and rows of all logs that the first call and each later call read. The rest of the rows is for segments. The entries of a slice
 * are one value, which D1 limits to 2 MB.
 */
const FIRST_CALL = { entries: 4_000, rows: 6_500 };
const LATER_CALL = { entries: 1_000, rows: 1_500 };

/** Logs that a later call reads. Their slices end first, so only they bound the page. */
const LATER_LOGS_MAX = 25;

/** The entries of slices, the newest first. An id is in one log, once, unless an entry was stored twice. */
const merge = <Entry extends Identified>(slices: readonly Slice<Entry>[]): Entry[] =>
  slices
    .flatMap(({ entries }) => entries)
    .toSorted((a, b) => (a.id < b.id ? 1 : -1))
    .filter((entry, index, all) => entry.id !== all[index - 1]?.id);

/** Returns the newest end of the slices that may have older entries. Newer entries are certain. Empty if all slices are complete. */
const endOf = (slices: readonly Slice<Identified>[]): string =>
  slices.reduce((newest, { end, more }) => (more && end > newest ? end : newest), "");

/** Combines the slices of several parts of a log into one. It ends where the first part ends. */
export function combine<Entry extends Identified>(log: string, parts: readonly Slice<Entry>[]): Slice<Entry> {
  const end = endOf(parts);
  return { log, entries: merge(parts).filter(({ id }) => id >= end), end, more: parts.some(({ more }) => more) };
}

/** Adds newly read entries of some logs to the slices. */
function extend<Entry extends Identified>(slices: Map<string, Slice<Entry>>, read: readonly Slice<Entry>[]): void {
  for (const slice of read)
    slices.set(slice.log, { ...slice, entries: [...(slices.get(slice.log)?.entries ?? []), ...slice.entries] });
}

/** The entries of a page. */
export interface Search {
  /** The id that is newer than all entries of the page. */
  readonly before: string;
  readonly limit: number;
  /** The most calls. */
  readonly calls: number;
  /** The id below which reading stops. */
  readonly since?: string | undefined;
}

/**
 * Reads the newest entries before an id. An entry is certain if it is not older than the end of any slice with `more`: all newer entries were
 * read. Older entries begin the next page, so a page may be shorter than `limit`, or empty although more entries exist.
 *
 * Each later call reads on in the logs that may have more entries of the page. `next` is the id before which the next page begins; absent on
 * the last page.
 */
export async function readNewest<Entry extends Identified>(
  read: ReadSlices<Entry>,
  logs: readonly string[],
  { before, limit, calls, since = "" }: Search,
): Promise<Result<{ entries: Entry[]; next: string | undefined }>> {
  const slices = new Map<string, Slice<Entry>>();
  let starts: readonly Start[] = logs.map((log) => ({ log, before }));
  let [size, rowsMax] = [Math.min(limit + 1, Math.floor(FIRST_CALL.entries / starts.length)), FIRST_CALL.rows];
  let merged: Entry[] = [];
  for (let left = calls; left > 0; left = starts.length > 0 ? left - 1 : 0) {
    const answer = await read(starts, size, rowsMax);
    if (!answer.ok) return answer;
    extend(slices, answer.value);
    merged = merge([...slices.values()]);
    const oldest = merged[limit]?.id ?? since;
    const unfinished = [...slices.values()].filter(({ more, end }) => more && end > oldest);
    const newest = unfinished.toSorted((a, b) => (a.end < b.end ? 1 : -1)).slice(0, LATER_LOGS_MAX);
    starts = newest.map(({ log, end }) => ({ log, before: end }));
    [size, rowsMax] = [Math.floor(LATER_CALL.entries / starts.length), LATER_CALL.rows];
  }
  const end = endOf([...slices.values()]);
  const entries = merged.filter(({ id }) => id >= end);
  return entries.length > limit
    ? ok({ entries: entries.slice(0, limit), next: entries[limit - 1]!.id })
    : ok({ entries, next: end > since ? end : undefined });
}
