import { timeOf } from "@item-vault/model/ids";
import { computed, signal, useSignal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";
import { vaults } from "../state/items.ts";
import { nameOf } from "../state/names.ts";
import { compareNames } from "../state/search.ts";
import { session } from "../state/session.ts";
import { showFailure, showToast } from "../state/toasts.ts";
import { Button } from "../ui/button.tsx";
import { Chart } from "../ui/chart.tsx";
import { Select } from "../ui/controls.tsx";
import { Icon } from "../ui/icon.tsx";
import { ItemField, itemNamed } from "../ui/item-field.tsx";
import { Menu } from "../ui/menu.tsx";
import { keepFocus, Page } from "../ui/page.tsx";
import { plural } from "../ui/plural.ts";
import { saveFile } from "../ui/save-file.ts";
import { formatDate, formatTime } from "../ui/time.ts";
import { countByDay, csvOf, type Entry, isBroken, type Listed, vaultOf } from "./entries.ts";
import { EntryList, itemName } from "./entry-table.tsx";
import { boundsOf, type Filters, isFiltered, NO_FILTERS, REQUEST_KINDS } from "./filters.ts";
import { createEntries, type Entries, loadEntries, type Log, LOGS, loadNames, vaultNameOf } from "./load.ts";

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
      <Select
        label="Log"
        bare
        value={query.value.log}
        options={logs.map((name) => [name, LOGS[name].label])}
        onChange={(log) => show(log, NO_FILTERS)}
      />
    )}
    <Menu
      label="Export"
      icon="download"
      actions={FORMATS.map((format) => ({ label: `Save as ${format[0]}`, run: () => void save(format) }))}
    />
  </>
);

const NAMES = { actor: nameOf, vault: vaultNameOf, item: itemName };

type Format = readonly [label: string, type: string, textOf: (listed: readonly Listed[]) => string];

const FORMATS: readonly Format[] = [
  ["CSV", "text/csv", (listed) => csvOf(listed, NAMES)],
  ["NDJSON", "application/x-ndjson", (listed) => listed.map((entry) => `${JSON.stringify(entry)}\n`).join("")],
];

/** Loads all matching entries, beyond those shown, and lets the browser save them. */
async function save([label, type, textOf]: Format): Promise<void> {
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
    showFailure(error);
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
  const found = isFiltered(query.value.filters)
    ? plural(count, "matching entry", "matching entries")
    : plural(count, "entry", "entries");
  return since.value
    ? `${found} since ${formatTime(since.value.toISOString())}; older ones are not loaded.`
    : `${found} in the whole log.`;
}

/** The shown log and its filters. */
const query = signal<{ readonly log: Log; readonly filters: Filters }>({ log: "vaults", filters: NO_FILTERS });
const entries = signal<Entries>(createEntries(() => Promise.resolve({ entries: [] })));

/** The time from which on the entries of the log are loaded; `undefined` when all are. */
const since = computed((): Date | undefined => {
  const { next } = entries.value.loaded.value;
  return next === undefined ? undefined : new Date(timeOf(next));
});

/** The ids in entries of the log under any filter: a filter does not remove the other choices. */
const seen = signal<{ readonly vaults: readonly string[]; readonly actors: readonly string[] }>({ vaults: [], actors: [] });

const distinct = (ids: readonly string[]): readonly string[] => [...new Set(ids)].filter((id) => id !== "");

function remember(listed: readonly Listed[]): void {
  const whole = listed.filter((entry): entry is Entry => !isBroken(entry));
  seen.value = {
    vaults: distinct([...seen.value.vaults, ...whole.map(vaultOf)]),
    actors: distinct([...seen.value.actors, ...whole.map(({ actor }) => actor.id)]),
  };
}

/** Shows a log from its newest entry on. */
function show(log: Log, filters: Filters): void {
  if (log !== query.value.log) seen.value = { vaults: [], actors: [] };
  const asked = (query.value = { log, filters });
  entries.value = createEntries(async (before) => {
    const page = await loadEntries(log, filters, before);
    if (asked === query.value) remember(page.entries);
    return page;
  });
  void entries.value.more();
}

type Option = readonly [value: string, text: string];

const KINDS = Object.entries(REQUEST_KINDS).map(([kind, { label }]): Option => [kind, label]);
const vaultText = (id: string): string => vaultNameOf(id) || `Vault ${id.slice(0, 8)}`;

/** The filters of the entries. The service filters, so every choice is a request. */
function FilterBar() {
  const { log, filters } = query.value;
  const set = (changed: Partial<Filters>) => show(log, { ...filters, ...changed });
  const clear = () => {
    show(log, NO_FILTERS);
    keepFocus();
  };
  const open = useSignal(false);
  const vaultIds = distinct([...vaults.value.map(({ id }) => id), ...seen.value.vaults]);
  const choice = (name: keyof Filters, label: string, all: string, options: readonly Option[]) => (
    <Select label={label} value={filters[name]} options={[["", all], ...options]} onChange={(value) => set({ [name]: value })} />
  );
  const day = (name: "from" | "until", label: string) => (
    <label>
      {label}
      <input type="date" value={filters[name]} onChange={(event) => set({ [name]: event.currentTarget.value })} />
    </label>
  );
  return (
    <div class={`filters ${open.value ? "" : "folded"}`}>
      <button type="button" class="fold" aria-expanded={open.value} onClick={() => (open.value = !open.value)}>
        {isFiltered(filters) ? "Filters (in use)" : "Filters"}
        <Icon name="down" />
      </button>
      {choice("vault", "Vault", "All vaults", byName(vaultIds, vaultText))}
      {choice("actor", "Who", "Everyone", byName(seen.value.actors, nameOf))}
      {log === "vaults" && <ItemChoice item={filters.item} onChange={(item) => set({ item })} />}
      {choice("kind", "Request", "All requests", KINDS)}
      {day("from", "From")}
      {day("until", "To")}
      {isFiltered(filters) && <Button text="Clear" onClick={clear} />}
    </div>
  );
}

const byName = (ids: readonly string[], name: (id: string) => string): Option[] =>
  ids.map((id) => [id, name(id)] as const).toSorted(([, a], [, b]) => compareNames(a, b));

function ItemChoice({ item, onChange }: Readonly<{ item: string; onChange: (item: string) => void }>) {
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
  return <ItemField id="activity-item" label="Item" type="search" placeholder="All items" value={text.value} onInput={enter} />;
}
