import { ok, type Result } from "../model/result.ts";

/**
 * Merges the newest entries of several logs. Each log is in the order of its ids, which are unique in all logs and sort by
 * time. Nothing here knows SQL: the caller reads the slices.
 */

interface Identified {
  readonly id: string;
}

/** Where a slice begins: at the newest entry of a log that is older than an id. */
export interface Start {
  readonly log: string;
  readonly before: string;
}

/** Consecutive entries of one log, newest first. */
export interface Slice<Entry extends Identified> {
  readonly log: string;
  readonly entries: readonly Entry[];
  /** Whether the log may have older entries. Then the slice is not empty. */
  readonly more: boolean;
}

/** Reads at most `size` entries from each start on, in one call. Out: a slice for each start. */
export type ReadSlices<Entry extends Identified> = (starts: readonly Start[], size: number) => Promise<Result<Slice<Entry>[]>>;

/** Comes after all ids. */
export const NEWEST = "g";

/** So many entries are read in one call, whatever part of them the page needs. */
const ONE_CALL = 6_000;
const FIRST_SLICES = 4_000;

/**
 * How many entries to read of each log at first: as many as the page can need of one log, unless these are too many in all.
 * Slices of 39 entries of 101 logs that are doubled up to 1,051 take five more calls, each of which reads at most 1,051
 * entries: fewer than 10,000 in all.
 */
const firstSize = (logs: number, wanted: number): number =>
  logs * wanted <= ONE_CALL ? wanted : Math.floor(FIRST_SLICES / logs);

const merge = <Entry extends Identified>(slices: readonly Slice<Entry>[]): Entry[] =>
  slices.flatMap(({ entries }) => entries).toSorted((a, b) => (a.id < b.id ? 1 : -1));

const endOf = <Entry extends Identified>({ entries }: Slice<Entry>): string => entries.at(-1)!.id;

/**
 * Reads the entries before an id in one call. An entry is certain when it is newer than the end of each slice with `more`:
 * no entry that was not read comes before it. Slices of n entries give at least n - 1 certain ones, and never all: what is
 * left begins the next page. So the page may be shorter than `limit`.
 */
export async function readBefore<Entry extends Identified>(
  read: ReadSlices<Entry>,
  logs: readonly string[],
  before: string,
  limit: number,
): Promise<Result<{ entries: Entry[]; more: boolean }>> {
  const starts = logs.map((log) => ({ log, before }));
  const slices = await read(starts, firstSize(logs.length, limit + 1));
  if (!slices.ok) return slices;
  const ends = slices.value.filter(({ more }) => more).map(endOf);
  const newestEnd = ends.reduce((newest, end) => (end > newest ? end : newest), "");
  const merged = merge(slices.value);
  const entries = merged.filter(({ id }) => id > newestEnd).slice(0, limit);
  return ok({ entries, more: entries.length < merged.length });
}

/**
 * Reads at least the newest `wanted` entries of all logs. Each call after the first doubles the slices whose entries are all
 * among the newest `wanted` of those read: only these logs may have more of them.
 */
export async function readNewest<Entry extends Identified>(
  read: ReadSlices<Entry>,
  logs: readonly string[],
  wanted: number,
): Promise<Result<Entry[]>> {
  const slices = new Map<string, Slice<Entry>>();
  let starts: readonly Start[] = logs.map((log) => ({ log, before: NEWEST }));
  let [size, further] = [0, firstSize(logs.length, wanted)];
  while (starts.length > 0) {
    const answer = await read(starts, further);
    if (!answer.ok) return answer;
    for (const { log, entries, more } of answer.value)
      slices.set(log, { log, entries: [...(slices.get(log)?.entries ?? []), ...entries], more });
    size += further;
    further = Math.min(size, wanted - size); // no log has more than `wanted` of them
    const oldest = merge([...slices.values()])[wanted - 1]?.id ?? "";
    const unfinished = [...slices.values()].filter((slice) => further > 0 && slice.more && endOf(slice) >= oldest);
    starts = unfinished.map((slice) => ({ log: slice.log, before: endOf(slice) }));
  }
  return ok(merge([...slices.values()]));
}
