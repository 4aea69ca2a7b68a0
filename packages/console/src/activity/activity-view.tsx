import { computed, signal, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useLayoutEffect } from "preact/hooks";
import { timeOf } from "@item-vault/model/ids";
import { explain } from "../failures/explain.ts";
import { vaults } from "../state/items.ts";
import { nameOf } from "../state/names.ts";
import { compareNames } from "../state/search.ts";
import { session } from "../state/session.ts";
import { showToast } from "../state/toasts.ts";
import { Chart } from "../ui/chart.tsx";
import { Icon } from "../ui/icon.tsx";
import { Menu } from "../ui/menu.tsx";
import { ItemField, itemNamed } from "../ui/item-field.tsx";
import { keepFocus, Page } from "../ui/page.tsx";
import { plural } from "../ui/plural.ts";
import { saveFile } from "../ui/save-file.ts";
import { formatDate, formatTime } from "../ui/time.ts";
import { csvOf } from "./csv.ts";
import { countByDay, type Entry, isBroken, type Listed, vaultOf } from "./entries.ts";
import { EntryList, itemName } from "./entry-table.tsx";
import { boundsOf, type Filters, isFiltered, NO_FILTERS, REQUEST_KINDS } from "./filters.ts";
import { createEntries, type Entries, loadEntries, type Log, LOGS } from "./load.ts";
import { loadNames, vaultNameOf } from "./names.ts";

/** The entries of a log, their filters, and their number on each day. */

export function ActivityView() {
  const { token, admin } = session.value!;
  const logs = (Object.keys(LOGS) as Log[]).filter((name) => (name === "admin" ? admin : token));
  useLayoutEffect(() => show(logs.includes(query.value.log) ? query.value.log : logs[0]!, NO_FILTERS), []);
  const { log } = query.value;
  useLayoutEffect(() => loadNames("actors", ...(log === "admin" ? (["subjects"] as const) : [])), [log]);
  const { entries: listed, next } = entries.value.loaded.value;
  return (
    <Page title="Activity" actions={<Actions logs={logs} />}>
      <FilterBar />
      {listed.length > 0 && <DayChart listed={listed} />}
      {entries.value.state.value === "loaded" && listed.length === 0 && next === undefined && <p class="empty">No entries.</p>}
      <EntryList entries={entries.value}>
        <span class="quiet">{summary(listed.length)}</span>
      </EntryList>
    </Page>
  );
}

const Actions = ({ logs }: { readonly logs: readonly Log[] }) => (
  <>
    {logs.length > 1 && (
      <select aria-label="Log" value={query.value.log} onChange={(event) => show(event.currentTarget.value as Log, NO_FILTERS)}>
        {logs.map((name) => (
          <option key={name} value={name}>
            {LOGS[name].label}
          </option>
        ))}
      </select>
    )}
    <Menu
      label="Export"
      icon="download"
      actions={FORMATS.map((format) => ({ label: `Save as ${format.label}`, run: () => void save(format) }))}
    />
  </>
);

const NAMES = { actor: nameOf, vault: vaultNameOf, item: itemName };

interface Format {
  readonly label: string;
  readonly type: string;
  readonly textOf: (listed: readonly Listed[]) => string;
}

const FORMATS: readonly Format[] = [
  { label: "CSV", type: "text/csv", textOf: (listed) => csvOf(listed, NAMES) },
  {
    label: "NDJSON",
    type: "application/x-ndjson",
    textOf: (listed) => listed.map((entry) => `${JSON.stringify(entry)}\n`).join(""),
  },
];

/** Loads all matching entries, beyond those shown, and lets the browser save them. */
async function save({ label, type, textOf }: Format): Promise<void> {
  const { log, filters } = query.value;
  try {
    let page = await loadEntries(log, filters, undefined);
    const found = [...page.entries];
    while (page.next !== undefined) {
      page = await loadEntries(log, filters, page.next);
      found.push(...page.entries);
    }
    saveFile(`activity.${label.toLowerCase()}`, new Blob([textOf(found)], { type }));
    showToast(`${plural(found.length, "entry", "entries")} saved.`);
  } catch (error) {
    showToast(explain(error), "failed");
  }
}

const DAYS = 60;

function DayChart({ listed }: { readonly listed: readonly Listed[] }) {
  // The last day of the chart is the end of the filter, or today.
  const { before } = boundsOf(query.value.filters);
  const last = before === undefined || before > Date.now() ? new Date() : new Date(before - 1);
  const bars = countByDay(listed, last, DAYS, since.value).map(({ day, reads, writes, denied }) => ({
    label: formatDate(`${day}T00:00`),
    values: [writes, reads, denied],
  }));
  return (
    <Chart
      title={`Requests per day${since.value ? ` since ${formatDate(since.value.toISOString())}` : ""}`}
      series={["writes", "reads", "refused"]}
      bars={bars}
    />
  );
}

/** Returns the number of entries found, and the searched part, so that the shown entries are not taken for the whole log. */
function summary(count: number): string {
  const found = plural(
    count,
    isFiltered(query.value.filters) ? "matching entry" : "entry",
    isFiltered(query.value.filters) ? "matching entries" : "entries",
  );
  return since.value
    ? `${found} since ${formatTime(since.value.toISOString())}; older ones are not loaded.`
    : `${found} in the whole log.`;
}

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
const actorIds = computed(() => seen.value.actors);

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

/** The value of a choice, and its text. */
type Option = readonly [value: string, text: string];

/** The filters of the entries. The service filters, so every choice is a request. */
function FilterBar() {
  const { log, filters } = query.value;
  const set = (changed: Partial<Filters>) => show(log, { ...filters, ...changed });
  const clear = () => {
    show(log, NO_FILTERS);
    keepFocus();
  };
  const open = useSignal(false);
  const choice = (name: keyof Filters, label: string, all: string, options: readonly Option[]) => (
    <Filter label={label}>
      <select value={filters[name]} onChange={(event) => set({ [name]: event.currentTarget.value })}>
        {[["", all] as const, ...options].map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </Filter>
  );
  const day = (name: "from" | "until", label: string) => (
    <Filter label={label}>
      <input type="date" value={filters[name]} onChange={(event) => set({ [name]: event.currentTarget.value })} />
    </Filter>
  );
  return (
    <div class={`filters ${open.value ? "" : "folded"}`}>
      <button type="button" class="fold" aria-expanded={open.value} onClick={() => (open.value = !open.value)}>
        {isFiltered(filters) ? "Filters (in use)" : "Filters"}
        <Icon name="down" />
      </button>
      {choice(
        "vault",
        "Vault",
        "All vaults",
        byName(vaultIds.value, (id) => vaultNameOf(id) || `Vault ${id.slice(0, 8)}`),
      )}
      {choice("actor", "Who", "Everyone", byName(actorIds.value, nameOf))}
      {log === "vaults" && <ItemChoice item={filters.item} onChange={(item) => set({ item })} />}
      {choice(
        "kind",
        "Request",
        "All requests",
        Object.entries(REQUEST_KINDS).map(([kind, { label }]) => [kind, label]),
      )}
      {day("from", "From")}
      {day("until", "To")}
      {isFiltered(filters) && (
        <button type="button" onClick={clear}>
          Clear
        </button>
      )}
    </div>
  );
}

const Filter = ({ label, children }: { readonly label: string; readonly children: ComponentChildren }) => (
  <label class="filter">
    <span>{label}</span>
    {children}
  </label>
);

const byName = (ids: readonly string[], name: (id: string) => string): Option[] =>
  ids.map((id) => [id, name(id)] as const).toSorted(([, a], [, b]) => compareNames(a, b));

interface ItemChoiceProps {
  /** The id of the Item that is chosen; empty for all. */
  readonly item: string;
  readonly onChange: (item: string) => void;
}

function ItemChoice({ item, onChange }: ItemChoiceProps) {
  const text = useSignal("");
  const entered = useSignal(item);
  const enter = (next: string) => {
    text.value = next;
    const id = itemNamed(next)?.id ?? "";
    if (id !== entered.value) onChange((entered.value = id));
  };
  useLayoutEffect(() => {
    // All filters were cleared. Text that names no Item is not, because it is being typed.
    if (item === "" && entered.value !== "") text.value = entered.value = "";
  }, [item]);
  return (
    <ItemField
      id="activity-item"
      look="filter"
      label={<span>Item</span>}
      type="search"
      placeholder="All items"
      value={text.value}
      onInput={enter}
    />
  );
}
