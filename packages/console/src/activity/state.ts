import { computed, signal } from "@preact/signals";
import { timeOf } from "@item-vault/model/ids";
import { vaults } from "../state/items.ts";
import { type Entry, isBroken, type Listed, vaultOf } from "./entries.ts";
import { type Filters, NO_FILTERS } from "./filters.ts";
import { createEntries, type Entries, loadEntries, type Log } from "./load.ts";

/** The shown log, its filters, and the loaded entries. */

export const query = signal<{ readonly log: Log; readonly filters: Filters }>({ log: "vaults", filters: NO_FILTERS });
export const entries = signal<Entries>(createEntries(() => Promise.resolve({ entries: [] })));

/** The time from which on the entries of the log are loaded; `undefined` when all are. */
export const since = computed((): Date | undefined => {
  const { next } = entries.value.loaded.value;
  return next === undefined ? undefined : new Date(timeOf(next));
});

/** The ids in entries of the log under any filter: a filter does not remove the other choices. */
const seen = signal<{ readonly vaults: readonly string[]; readonly actors: readonly string[] }>({ vaults: [], actors: [] });

const distinct = (ids: readonly string[]): readonly string[] => [...new Set(ids)].filter((id) => id !== "");

export const vaultIds = computed(() => distinct([...vaults.value.map(({ id }) => id), ...seen.value.vaults]));
export const actorIds = computed(() => seen.value.actors);

function remember(listed: readonly Listed[]): void {
  const whole = listed.filter((entry): entry is Entry => !isBroken(entry));
  seen.value = {
    vaults: distinct([...seen.value.vaults, ...whole.map(vaultOf)]),
    actors: distinct([...seen.value.actors, ...whole.map(({ actor }) => actor.id)]),
  };
}

/** Shows a log from its newest entry on. */
export function show(log: Log, filters: Filters): void {
  if (log !== query.value.log) seen.value = { vaults: [], actors: [] };
  const asked = (query.value = { log, filters });
  entries.value = createEntries(async (before) => {
    const page = await loadEntries(log, filters, before);
    if (asked === query.value) remember(page.entries);
    return page;
  });
  void entries.value.more();
}
