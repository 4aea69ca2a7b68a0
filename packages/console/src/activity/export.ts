import { saveFile } from "../ui/save-file.ts";
import { entries as items } from "../state/items.ts";
import { nameOf } from "../state/names.ts";
import { csvOf, type Names } from "./csv.ts";
import type { Listed } from "./entries.ts";
import { itemName } from "./filter-bar.tsx";
import type { Filters } from "./filters.ts";
import { loadEntries, type Log } from "./load.ts";
import { vaultNameOf } from "./names.ts";

/** The entries that match, as a file. */

const NAMES: Names = { actor: nameOf, vault: vaultNameOf, item: (id) => itemName(items.value, id) };

export const FORMATS = {
  csv: { label: "CSV", type: "text/csv", textOf: (found: readonly Listed[]) => csvOf(found, NAMES) },
  ndjson: {
    label: "NDJSON",
    type: "application/x-ndjson",
    textOf: (entries: readonly Listed[]) => entries.map((entry) => `${JSON.stringify(entry)}\n`).join(""),
  },
} as const;

export type Format = keyof typeof FORMATS;

/** Loads all matching entries, beyond those shown, and lets the browser save them. Throws as `call` does. */
export async function exportEntries(log: Log, filters: Filters, format: Format): Promise<number> {
  const entries: Listed[] = [];
  for (let next: string | undefined, begun = false; !begun || next !== undefined; begun = true) {
    const page = await loadEntries(log, filters, next);
    entries.push(...page.entries);
    next = page.next;
  }
  const { type, textOf } = FORMATS[format];
  saveFile(`activity.${format}`, new Blob([textOf(entries)], { type }));
  return entries.length;
}
