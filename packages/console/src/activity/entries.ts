import type { ActivityEntry, AdminActivityEntry, BrokenActivityEntry, ExportedEntry } from "@item-vault/client";

/** Entries of the activity logs: what they are about, and what the page counts. All functions are pure. */

export type Entry = ActivityEntry | AdminActivityEntry | ExportedEntry;

/** An entry of a log, or one whose record does not open (contract 13.27). */
export type Listed = Entry | BrokenActivityEntry;

export const isBroken = (entry: Listed): entry is BrokenActivityEntry => "broken" in entry;

export type Kind = "reads" | "writes" | "denied";

/** What an entry counts as: every refused request is one kind, whatever it tried. */
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
 * Counts entries by the days of the browser's time zone: every day from the first to today, also those without an entry. In: the time from
 * which on the entries are known; absent: the day of the oldest entry is the first. At most so many days are counted. Of a broken entry it
 * is not known what it was, so it is in no count.
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
