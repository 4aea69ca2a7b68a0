import type { ActivityEntry, AdminActivityEntry, BrokenActivityEntry, ExportedEntry } from "@item-vault/client";

/** The subjects of entries in the activity logs, their counts, and their rows. All functions are pure. */

export type Entry = ActivityEntry | AdminActivityEntry | ExportedEntry;

/** An entry of a log, or a broken entry (contract 13.27). */
export type Listed = Entry | BrokenActivityEntry;

export const isBroken = (entry: Listed): entry is BrokenActivityEntry => "broken" in entry;

export type Kind = "reads" | "writes" | "denied";

/** Returns the kind of an entry. Every refused request has one kind, whatever its action. */
export function kindOf({ action, result }: Pick<Entry, "action" | "result">): Kind {
  if (result === "DENY") return "denied";
  return action === "READ" ? "reads" : "writes";
}

/** The ids of the vault and the Items that an entry is about; empty where it is about none. */
export const vaultOf = ({ resource }: Entry): string => resource.vault?.id ?? "";

export function itemsOf({ resource }: Entry): readonly string[] {
  if (!("item" in resource || "items" in resource)) return [];
  return [resource.item, ...(resource.items ?? [])].flatMap((item) => (item ? [item.id] : []));
}

/** The counts of one day, which is written as 2026-11-22. */
export type Day = { readonly day: string } & Readonly<Record<Kind, number>>;

/**
 * Counts entries by the days of the browser's time zone: every day from the first to today, also days without an entry. `since` is the time
 * from which entries are known; without it, the day of the oldest entry is the first. At most `most` days are counted. The kind of a broken
 * entry is unknown, so it is not counted.
 */
export function countByDay(entries: readonly Listed[], today: Date, most: number, since?: Date): readonly Day[] {
  const counts = new Map<string, Record<Kind, number>>();
  for (const entry of entries) {
    if (isBroken(entry)) continue;
    const day = dayOf(new Date(entry.timestamp));
    const count = counts.get(day) ?? { reads: 0, writes: 0, denied: 0 };
    count[kindOf(entry)]++;
    counts.set(day, count);
  }
  const first = since ? dayOf(since) : ([...counts.keys()].toSorted()[0] ?? dayOf(today));
  const days: Day[] = [];
  for (let back = 0; back < most; back++) {
    const day = dayOf(new Date(today.getFullYear(), today.getMonth(), today.getDate() - back));
    if (day < first) break;
    days.unshift({ day, reads: 0, writes: 0, denied: 0, ...counts.get(day) });
  }
  return days;
}

/** The day of a time in the time zone of the browser, as 2026-11-22. */
export const dayOf = (time: Date): string =>
  [time.getFullYear(), time.getMonth() + 1, time.getDate()].map((part) => String(part).padStart(2, "0")).join("-");

/** A row of the page: an entry, or a run of the same reads. */
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
