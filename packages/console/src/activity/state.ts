import { computed, signal } from "@preact/signals";
import { timeOf } from "@item-vault/model/ids";
import { vaults } from "../state/items.ts";
import { type Entry, isBroken, vaultOf } from "./entries.ts";
import { type Filters, NO_FILTERS } from "./filters.ts";
import { type Loaded, loadEntries, type Log } from "./load.ts";

/** The shown log, its filters, and the loaded entries. */

interface Query {
  readonly log: Log;
  readonly filters: Filters;
}

export const query = signal<Query>({ log: "vaults", filters: NO_FILTERS });
export const loaded = signal<Loaded>({ entries: [] });
export const state = signal<"loading" | "loaded" | "failed">("loading");
export const failure = signal<unknown>(undefined);

/** The time from which on the entries of the log are loaded; `undefined` when all are. */
export const since = computed((): Date | undefined => {
  const { next } = loaded.value;
  return next === undefined ? undefined : new Date(timeOf(next));
});

/** The ids in entries of the log under any filter: a filter does not remove the other choices. */
const seen = signal<{ readonly vaults: readonly string[]; readonly actors: readonly string[] }>({ vaults: [], actors: [] });

const distinct = (ids: readonly string[]): readonly string[] => [...new Set(ids)].filter((id) => id !== "");

export const vaultIds = computed(() => distinct([...vaults.value.map(({ id }) => id), ...seen.value.vaults]));
export const actorIds = computed(() => seen.value.actors);

function remember(entries: readonly Entry[]): void {
  seen.value = {
    vaults: distinct([...seen.value.vaults, ...entries.map(vaultOf)]),
    actors: distinct([...seen.value.actors, ...entries.map(({ actor }) => actor.id)]),
  };
}

/** Loads older entries. An answer to an outdated query is dropped. */
export async function loadMore(): Promise<void> {
  const asked = query.value;
  const { entries, next: before } = loaded.value;
  state.value = "loading";
  try {
    const page = await loadEntries(asked.log, asked.filters, before);
    if (asked !== query.value) return;
    loaded.value = { ...page, entries: [...entries, ...page.entries] };
    remember(page.entries.filter((entry): entry is Entry => !isBroken(entry)));
    state.value = "loaded";
  } catch (error) {
    if (asked !== query.value) return;
    failure.value = error;
    state.value = "failed";
  }
}

/** Shows a log from its newest entry on. */
export function show(log: Log, filters: Filters): void {
  if (log !== query.value.log) seen.value = { vaults: [], actors: [] };
  query.value = { log, filters };
  loaded.value = { entries: [] };
  void loadMore();
}
