import { ok, type Result } from "../../model/result.ts";
import { callsWithin, type RowBudget, sizeWithin } from "./reading.ts";

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

/**
 * Reads about `size` entries from each start on, in one call, and takes the rows that it reads off the budget. Returns a slice for each
 * start.
 */
export type ReadSlices<Entry extends Identified> = (starts: readonly Start[], size: number) => Promise<Result<Slice<Entry>[]>>;

/** Comes after all ids. */
export const NEWEST = "g";

/** The entries that the first call reads of all logs, so that its budget has room for segments. */
const FIRST_CALL_ENTRIES_MAX = 4_000;

/** The entries of a slice are one value, which D1 limits to 2 MB. */
const LATER_SLICE_ENTRIES_MAX = 1_000;

/** The part of the unfinished logs that a call reads further. Their slices end first, so only they bound the page. */
const READ_ON_PART = 1 / 4;

/** Returns the number of entries to read of each log at first: as many as the page can need of one log, within the limit for all logs. */
const firstSize = (logs: number, wanted: number): number =>
  Math.min(wanted, Math.floor(FIRST_CALL_ENTRIES_MAX / Math.max(1, logs)));

/** The entries of slices, the newest first. An id is in one log, and there once, but for an entry that was stored twice. */
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

/** The progress of a search for one page. */
interface Search {
  readonly calls: number;
  readonly budget: RowBudget;
  /** The id below which nothing is read on. */
  readonly since?: string | undefined;
}

/**
 * Reads the entries before an id. An entry is certain if it is not older than the end of any slice with `more`: all newer entries were read.
 * Older entries begin the next page, so a page may be shorter than `limit`, or empty although more entries exist.
 *
 * The calls after the first share the rest of the budget among the logs with more entries, up to `LATER_SLICE_ENTRIES_MAX` of each. `next` is
 * the id before which the next page begins; absent on the last page.
 */
export async function readBefore<Entry extends Identified>(
  read: ReadSlices<Entry>,
  logs: readonly string[],
  before: string,
  limit: number,
  { calls, budget, since = "" }: Search,
): Promise<Result<{ entries: Entry[]; next: string | undefined }>> {
  const slices = new Map<string, Slice<Entry>>();
  let starts: readonly Start[] = logs.map((log) => ({ log, before }));
  let size = firstSize(logs.length, limit + 1);
  let [entries, end] = [[] as Entry[], ""];
  for (let left = calls; left > 0;) {
    const answer = await read(starts, size);
    if (!answer.ok) return answer;
    extend(slices, answer.value);
    end = endOf([...slices.values()]);
    entries = merge([...slices.values()]).filter(({ id }) => id >= end);
    if (entries.length > limit || end <= since) break;
    const unfinished = [...slices.values()].filter((slice) => slice.more && slice.end > since);
    const newest = unfinished.toSorted((a, b) => (a.end < b.end ? 1 : -1)).slice(0, Math.ceil(unfinished.length * READ_ON_PART));
    starts = newest.map((slice) => ({ log: slice.log, before: slice.end }));
    left = Math.min(left - 1, callsWithin(budget.rows, starts.length));
    size = Math.min(LATER_SLICE_ENTRIES_MAX, sizeWithin(budget.rows / left, starts.length));
  }
  return entries.length > limit
    ? ok({ entries: entries.slice(0, limit), next: entries[limit - 1]!.id })
    : ok({ entries, next: end <= since ? undefined : end });
}

/**
 * Reads at least the newest `wanted` entries of all logs, within the calls and the budget. Each later call doubles the slices whose entries
 * are all among the newest `wanted`: only these logs may have more of them. `next` is the id before which unread entries begin; absent unless
 * the calls ran out.
 */
export async function readNewest<Entry extends Identified>(
  read: ReadSlices<Entry>,
  logs: readonly string[],
  wanted: number,
  { calls, budget }: Omit<Search, "since">,
): Promise<Result<{ entries: Entry[]; next: string | undefined }>> {
  const slices = new Map<string, Slice<Entry>>();
  let starts: readonly Start[] = logs.map((log) => ({ log, before: NEWEST }));
  let size = firstSize(logs.length, wanted);
  for (let left = calls; starts.length > 0 && left > 0; left = Math.min(left - 1, callsWithin(budget.rows, starts.length))) {
    const answer = await read(starts, size);
    if (!answer.ok) return answer;
    extend(slices, answer.value);
    const oldest = merge([...slices.values()])[wanted - 1]?.id ?? "";
    const unfinished = [...slices.values()].filter((slice) => slice.more && slice.end > oldest);
    starts = unfinished.map((slice) => ({ log: slice.log, before: slice.end }));
    // A slice of segments may have fewer entries than were asked for. No log has more than `wanted` of them.
    const least = Math.min(...unfinished.map(({ entries }) => entries.length));
    const wantedSize = Math.max(
      Math.min(least, wanted - least),
      Math.min(wanted, Math.floor(LATER_SLICE_ENTRIES_MAX / logs.length)),
    );
    size = Math.min(wantedSize, sizeWithin(budget.rows, starts.length));
  }
  const end = starts.reduce((newest, { before }) => (before > newest ? before : newest), "");
  const entries = merge([...slices.values()]).filter(({ id }) => id >= end);
  return ok({ entries, next: end || undefined });
}
