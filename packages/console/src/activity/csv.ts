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

/** Returns a table (RFC 4180). A broken entry has only its id. */
export function csvOf(entries: readonly Listed[], names: Names): string {
  const rows = entries.map((entry) =>
    isBroken(entry)
      ? COLUMNS.map(([name]) => (name === "request" ? entry.requestId : name === "action" ? "damaged" : ""))
      : COLUMNS.map(([, valueOf]) => valueOf(entry, names) ?? ""),
  );
  return [COLUMNS.map(([name]) => name), ...rows].map((row) => `${row.map(cellOf).join(",")}\r\n`).join("");
}

/** Returns a cell. A text that a spreadsheet would run as a formula gets an apostrophe, because programs choose their own names. */
function cellOf(value: string | number): string {
  const text = String(value);
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
