import { csvText } from "@item-vault/transfer/csv-text";
import { type Entry, isBroken, itemsOf, type Listed, vaultOf } from "./entries.ts";

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

/** Functions that return the names of ids. */
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
