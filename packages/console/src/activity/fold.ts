import { dayOf, type Entry, isBroken, itemsOf, kindOf, type Listed } from "./entries.ts";

/** Entries as rows of the page: by day, with runs of the same reads as one. */

export interface Row {
  /** The newest entry of the run. */
  readonly entry: Listed;
  /** The number of entries. */
  readonly count: number;
}

export interface DayOfRows {
  /** The timestamp of the newest entry of the day; empty where no time is known. */
  readonly timestamp: string;
  readonly rows: readonly Row[];
}

/** Returns true if an entry is the load of a list, which each page of the console makes. */
const isListRead = (entry: Entry): boolean =>
  kindOf(entry) === "reads" && entry.resource.type === "VAULT" && itemsOf(entry).length === 0;

/** Returns true if two entries are reads of lists by the same actor from the same place. */
const isSameRead = (a: Listed, b: Listed): boolean =>
  !isBroken(a) &&
  !isBroken(b) &&
  isListRead(a) &&
  isListRead(b) &&
  a.actor.id === b.actor.id &&
  a.actor.userAgent === b.actor.userAgent &&
  a.actor.requestIp === b.actor.requestIp;

/** Groups entries, newest first, by day. A run of reads of lists is one row. */
export function foldByDay(entries: readonly Listed[]): readonly DayOfRows[] {
  const days: { timestamp: string; day: string; rows: { entry: Listed; count: number }[] }[] = [];
  for (const entry of entries) {
    const day = entry.timestamp ? dayOf(new Date(entry.timestamp)) : "";
    let last = days.at(-1);
    if (last?.day !== day) days.push((last = { timestamp: entry.timestamp ?? "", day, rows: [] }));
    const run = last.rows.at(-1);
    if (run && isSameRead(run.entry, entry)) run.count++;
    else last.rows.push({ entry, count: 1 });
  }
  return days;
}
