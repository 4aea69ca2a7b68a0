import type { Dialect } from "../../model/dialect.ts";
import { ok, type Result } from "../../model/result.ts";
import type { Store } from "../d1/database.ts";
import { type FoundRow, loadWanted, type Reader, type Wanted } from "./rows.ts";
import { readItem, type Search, searchesFor, wantedBy } from "./search.ts";

/** Loads and reads the Items of references. */

export interface Reading extends Reader {
  readonly dialect: Dialect;
}

export const nameOf = (one: Wanted): string => [one.vault, one.item, one.folded].join("/");

/** Loads the Items that were not asked for. Errors: as `loadWanted`. */
export async function loadMissing(
  store: Store,
  reading: Reading,
  searches: readonly Search[],
  asked: ReadonlyMap<string, Wanted>,
): Promise<Result<FoundRow[]>> {
  const wanted = searches.flatMap(wantedBy).filter((one) => !asked.has(nameOf(one)));
  return wanted.length > 0 ? loadWanted(store, reading, wanted) : ok([]);
}

/** Reads the Items, each once, and loads those of which the texts are missing. Out: how many Items have the title of a search. */
export async function readItems(
  store: Store,
  reading: Reading,
  searches: readonly Search[],
  found: readonly FoundRow[],
): Promise<Result<(search: Search) => number>> {
  const context = { dialect: reading.dialect, now: store.now };
  const inVault = Map.groupBy(searches, ({ vault }) => vault.id);
  const rows = new Map(found.map((row) => [`${row.vault_id}/${row.id}`, row]));
  const titled = Map.groupBy(rows.values(), ({ vault_id, folded }) => `${vault_id}/${folded}`);
  let pending = [...rows.values()];
  while (pending.length > 0) {
    const missing: Wanted[] = [];
    await Promise.all(
      pending.map(async (row) => {
        const asking = searchesFor(row, inVault.get(row.vault_id) ?? []);
        if (asking.length === 0) return;
        const { overview, details } = row;
        if (overview === null || details === null) missing.push({ vault: row.vault_id, item: row.id, folded: null });
        else await readItem({ ...row, overview, details }, asking, context);
      }),
    );
    const loaded: Result<FoundRow[]> = missing.length > 0 ? await loadWanted(store, reading, missing) : ok([]);
    if (!loaded.ok) return loaded;
    pending = loaded.value;
  }
  return ok(({ vault, folded }) => folded.reduce((sum, index) => sum + (titled.get(`${vault.id}/${index}`)?.length ?? 0), 0));
}
