import type { ActivityEntry, AdminActivityEntry } from "@item-vault/client";

/** Entries of the activity logs: what the page filters and counts. All functions are pure. */

export type Entry = ActivityEntry | AdminActivityEntry;

/** A filter that is empty lets every entry through. */
export interface Filters {
  readonly vault: string;
  readonly actor: string;
  readonly item: string;
  readonly kind: Kind | "";
}

export const NO_FILTERS: Filters = { vault: "", actor: "", item: "", kind: "" };

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

const RULES: { readonly [Name in keyof Filters]: (entry: Entry, value: string) => boolean } = {
  vault: (entry, vault) => vaultOf(entry) === vault,
  actor: ({ actor }, id) => actor.id === id,
  item: (entry, item) => itemsOf(entry).includes(item),
  kind: (entry, kind) => kindOf(entry) === kind,
};

export function filterEntries(entries: readonly Entry[], filters: Filters): readonly Entry[] {
  const active = (Object.keys(RULES) as (keyof Filters)[]).filter((name) => filters[name] !== "");
  return entries.filter((entry) => active.every((name) => RULES[name](entry, filters[name])));
}

/** The counts of one day, which is written as 2026-11-22. */
export type Day = { readonly day: string } & Readonly<Record<Kind, number>>;

/**
 * Counts entries by the days of the browser's time zone: every day from the oldest entry to today, also those without one. In: the newest
 * first; at most so many days are counted.
 */
export function countByDay(entries: readonly Entry[], today: Date, most: number): readonly Day[] {
  const counts = new Map<string, Record<Kind, number>>();
  for (const entry of entries) {
    const day = dayOf(new Date(entry.timestamp));
    const count = counts.get(day) ?? { reads: 0, writes: 0, denied: 0 };
    count[kindOf(entry)]++;
    counts.set(day, count);
  }
  const oldest = [...counts.keys()].toSorted()[0] ?? dayOf(today);
  const days: Day[] = [];
  for (let back = 0; back < most; back++) {
    const day = dayOf(new Date(today.getFullYear(), today.getMonth(), today.getDate() - back));
    if (day < oldest) break;
    days.unshift({ day, reads: 0, writes: 0, denied: 0, ...counts.get(day) });
  }
  return days;
}

const dayOf = (time: Date): string =>
  [time.getFullYear(), time.getMonth() + 1, time.getDate()].map((part) => String(part).padStart(2, "0")).join("-");
