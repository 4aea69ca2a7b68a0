import type { ActivityEntry, AdminActivityEntry, BrokenActivityEntry, ExportedEntry } from "@item-vault/client";
import { csvText } from "@item-vault/transfer/csv-text";

/** The subjects of entries in the activity logs, their counts, and their rows. All functions are pure. */

export type Entry = ActivityEntry | AdminActivityEntry | ExportedEntry;

/** An entry of a log, or a broken entry (contract 13.27). */
export type Listed = Entry | BrokenActivityEntry;

export const isBroken = (entry: Listed): entry is BrokenActivityEntry => "broken" in entry;

export type Kind = "reads" | "writes" | "denied";

/** Returns the kind of an entry. All refused requests are one kind, whatever their action. */
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

/** A row of the page: an entry, or the newest of a run of the same reads with their number. `ofVaults`: all are of the list of vaults. */
export type Row = Readonly<{ entry: Listed; count: number; ofVaults: boolean }>;

/** Returns true if an entry is the load of a list, which each page of the console makes. */
const isListRead = (entry: Entry): boolean =>
  kindOf(entry) === "reads" && entry.resource.type === "VAULT" && itemsOf(entry).length === 0;

/** Returns the reader of a list and their place, which all entries of a run have in common. Undefined for another entry. */
const readerOf = (entry: Listed): string | undefined =>
  !isBroken(entry) && isListRead(entry)
    ? JSON.stringify([entry.actor.id, entry.actor.userAgent, entry.actor.requestIp])
    : undefined;

/**
 * Groups entries, newest first, by day. A run of reads of lists is one row. The timestamp is the timestamp of the newest entry of the day;
 * empty where no time is known.
 */
export function foldByDay(entries: readonly Listed[]): readonly Readonly<{ timestamp: string; rows: readonly Row[] }>[] {
  const days: { timestamp: string; day: string; rows: { entry: Listed; count: number; ofVaults: boolean }[] }[] = [];
  for (const entry of entries) {
    const day = entry.timestamp ? dayOf(new Date(entry.timestamp)) : "";
    let last = days.at(-1);
    if (last?.day !== day) days.push((last = { timestamp: entry.timestamp ?? "", day, rows: [] }));
    const run = last.rows.at(-1);
    const reader = readerOf(entry);
    const ofVaults = !isBroken(entry) && vaultOf(entry) === "";
    if (run && reader !== undefined && reader === readerOf(run.entry)) {
      run.count++;
      run.ofVaults &&= ofVaults;
    } else last.rows.push({ entry, count: 1, ofVaults });
  }
  return days;
}

/** Entries as a table for spreadsheets. */

const COLUMNS: readonly (readonly [name: string, valueOf: (entry: Entry, names: Names) => string | number | undefined])[] = [
  ["time", ({ timestamp }) => timestamp],
  ["action", ({ action }) => action],
  ["result", ({ result }) => result],
  ["actor", ({ actor }) => actor.id],
  ["token", ({ actor }) => actor.jti],
  ["address", ({ actor }) => actor.requestIp],
  ["program", ({ actor }) => actor.userAgent],
  ["resource", ({ resource }) => resource.type],
  ["vault", vaultOf],
  ["items", (entry) => itemsOf(entry).join(" ")],
  ["version", ({ resource }) => ("itemVersion" in resource ? resource.itemVersion : undefined)],
  ["request", ({ requestId }) => requestId],
  ["actor name", ({ actor }, { actor: nameOf }) => nameOf(actor.id)],
  ["vault name", (entry, { vault: nameOf }) => nameOf(vaultOf(entry))],
  ["item titles", (entry, { item: nameOf }) => itemsOf(entry).map(nameOf).join(", ")],
];

export type Names = Readonly<Record<"actor" | "vault" | "item", (id: string) => string>>;

/** Returns a table as CSV. A broken entry has only its id. */
export function csvOf(entries: readonly Listed[], names: Names): string {
  const rows = entries.map((entry) =>
    isBroken(entry)
      ? COLUMNS.map(([name]) => (name === "request" ? entry.requestId : name === "action" ? "damaged" : ""))
      : COLUMNS.map(([, valueOf]) => valueOf(entry, names) ?? ""),
  );
  return csvText([COLUMNS.map(([name]) => name), ...rows]);
}
