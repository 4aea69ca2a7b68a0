import { useLayoutEffect } from "preact/hooks";
import { entries as items } from "../state/items.ts";
import { session } from "../state/session.ts";
import { Chart } from "../ui/chart.tsx";
import { Failure } from "../ui/failure.tsx";
import { Menu } from "../ui/menu.tsx";
import { plural } from "../ui/plural.ts";
import { explain } from "../failures/explain.ts";
import { showToast } from "../state/toasts.ts";
import { exportEntries, type Format, FORMATS } from "./export.ts";
import { Page } from "../ui/page.tsx";
import { formatDate, formatTime } from "../ui/time.ts";
import { countByDay } from "./entries.ts";
import { EntryTable } from "./entry-table.tsx";
import { FilterBar } from "./filter-bar.tsx";
import { boundsOf, isFiltered, NO_FILTERS } from "./filters.ts";
import { type Log, LOGS } from "./load.ts";
import { MoreEntries } from "./more-entries.tsx";
import { loadNames } from "./names.ts";
import { failure, loaded, loadMore, query, show, since, state } from "./state.ts";

/** The entries of a log, their filters, and their number on each day. */

const DAYS = 60;

export function ActivityView() {
  const { token, admin } = session.value!;
  const logs = (Object.keys(LOGS) as Log[]).filter((name) => (name === "admin" ? admin : token));
  useLayoutEffect(() => show(logs.includes(query.value.log) ? query.value.log : logs[0]!, NO_FILTERS), []);
  const { entries, next } = loaded.value;
  const { log } = query.value;
  useLayoutEffect(() => loadNames("actors", ...(log === "admin" ? (["subjects"] as const) : [])), [log]);
  return (
    <Page title="Activity" actions={<Actions logs={logs} />}>
      <FilterBar />
      {entries.length > 0 && <DayChart />}
      {state.value === "failed" && <Failure error={failure.value} retry={() => void loadMore()} />}
      {state.value === "loaded" && entries.length === 0 && next === undefined && <p class="empty">No entries.</p>}
      {entries.length > 0 && <EntryTable entries={entries} items={items.value} />}
      <MoreEntries loaded={loaded.value} isLoading={state.value === "loading"} onMore={() => void loadMore()}>
        {state.value === "loaded" && <span class="quiet">{summary()}</span>}
      </MoreEntries>
    </Page>
  );
}

const Actions = ({ logs }: { readonly logs: readonly Log[] }) => (
  <>
    {logs.length > 1 && <LogChoice logs={logs} />}
    <Menu
      label="Export"
      icon="download"
      actions={Object.entries(FORMATS).map(([format, { label }]) => ({
        label: `Save as ${label}`,
        run: () => void save(format as Format),
      }))}
    />
  </>
);

async function save(format: Format): Promise<void> {
  const { log, filters } = query.value;
  try {
    const count = await exportEntries(log, filters, format);
    showToast(`${plural(count, "entry", "entries")} saved.`);
  } catch (error) {
    showToast(explain(error), "failed");
  }
}

function LogChoice({ logs }: { readonly logs: readonly Log[] }) {
  return (
    <select aria-label="Log" value={query.value.log} onChange={(event) => show(event.currentTarget.value as Log, NO_FILTERS)}>
      {logs.map((name) => (
        <option key={name} value={name}>
          {LOGS[name].label}
        </option>
      ))}
    </select>
  );
}

/** Returns the last day of the chart: the end of the filter, or today. */
function lastDay(): Date {
  const { before } = boundsOf(query.value.filters);
  return before === undefined || before > Date.now() ? new Date() : new Date(before - 1);
}

function DayChart() {
  const days = countByDay(loaded.value.entries, lastDay(), DAYS, since.value);
  const bars = days.map(({ day, reads, writes, denied }) => ({
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

/** Returns the searched part of the log. */
const coverage = (): string => (since.value ? ` since ${formatTime(since.value.toISOString())}` : "");

/** Returns the number of entries found, and the searched part, so that the shown entries are not taken for the whole log. */
function summary(): string {
  const count = loaded.value.entries.length;
  const found = `${count.toLocaleString("en")} ${isFiltered(query.value.filters) ? "matching " : ""}${count === 1 ? "entry" : "entries"}`;
  return since.value ? `${found}${coverage()}; older ones are not loaded.` : `${found} in the whole log.`;
}
