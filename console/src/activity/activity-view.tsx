import { computed, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { entries as items } from "../state/items.ts";
import { session } from "../state/session.ts";
import { Chart } from "../ui/chart.tsx";
import { Failure } from "../ui/failure.tsx";
import { Page } from "../ui/page.tsx";
import { formatDate } from "../ui/time.ts";
import { countByDay, type Entry, filterEntries, type Filters, NO_FILTERS } from "./entries.ts";
import { EntryTable } from "./entry-table.tsx";
import { FilterBar } from "./filter-bar.tsx";
import { type Loaded, loadEntries, type Log, LOGS } from "./load.ts";

/** Who did what: the entries of a log, what they are filtered by, and how many there were on each day. */

const DAYS = 60;
const log = signal<Log>("vaults");
const loaded = signal<Loaded>({ entries: [], more: false });
const state = signal<"loading" | "loaded" | "failed">("loading");
const failure = signal<unknown>(undefined);
const filters = signal<Filters>(NO_FILTERS);
const shown = computed(() => filterEntries(loaded.value.entries, filters.value));

async function load(before?: string): Promise<void> {
  state.value = "loading";
  const asked = log.value;
  try {
    const next = await loadEntries(asked, before);
    if (asked !== log.value) return;
    loaded.value = { ...next, entries: before === undefined ? next.entries : [...loaded.value.entries, ...next.entries] };
    state.value = "loaded";
  } catch (error) {
    failure.value = error;
    state.value = "failed";
  }
}

function chooseLog(chosen: Log): void {
  log.value = chosen;
  filters.value = NO_FILTERS;
  loaded.value = { entries: [], more: false };
  void load();
}

export function ActivityView() {
  const { token, admin } = session.value!;
  const logs = (Object.keys(LOGS) as Log[]).filter((name) => (name === "admin" ? admin : token));
  useEffect(() => chooseLog(logs.includes(log.value) ? log.value : logs[0]!), []);
  return (
    <Page title="Activity" actions={logs.length > 1 && <LogChoice logs={logs} />}>
      <FilterBar
        entries={loaded.value.entries}
        items={items.value}
        filters={filters.value}
        onChange={(next) => (filters.value = next)}
      />
      {loaded.value.entries.length > 0 && <DayChart entries={shown.value} />}
      {state.value === "failed" && <Failure error={failure.value} retry={() => void load()} />}
      {state.value === "loaded" && shown.value.length === 0 && <p class="empty">No entries.</p>}
      {shown.value.length > 0 && <EntryTable entries={shown.value} items={items.value} />}
      <p class="more">
        {loaded.value.entries.length > 0 && <span class="quiet">{summaryOf(loaded.value, shown.value)}</span>}
        {loaded.value.more && (
          <button
            type="button"
            disabled={state.value === "loading"}
            onClick={() => void load(loaded.value.entries.at(-1)?.requestId)}
          >
            Load older entries
          </button>
        )}
        {state.value === "loading" && <span class="quiet">Loading…</span>}
      </p>
    </Page>
  );
}

function LogChoice({ logs }: { readonly logs: readonly Log[] }) {
  return (
    <select aria-label="Log" value={log.value} onChange={(event) => chooseLog(event.currentTarget.value as Log)}>
      {logs.map((name) => (
        <option key={name} value={name}>
          {LOGS[name].label}
        </option>
      ))}
    </select>
  );
}

function DayChart({ entries }: { readonly entries: readonly Entry[] }) {
  const days = countByDay(entries, new Date(), DAYS);
  const bars = days.map(({ day, reads, writes, denied }) => ({
    label: formatDate(`${day}T00:00`),
    values: [reads, writes, denied],
  }));
  return <Chart title="Requests per day" series={["reads", "writes", "refused"]} bars={bars} />;
}

const summaryOf = ({ entries, more }: Loaded, found: readonly Entry[]): string =>
  `${found.length} of ${entries.length} loaded entries${more ? "; the log has older ones." : ". These are all."}`;
