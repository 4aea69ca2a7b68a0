import { useLayoutEffect } from "preact/hooks";
import { explain } from "../failures/explain.ts";
import { loadNames, nameOf, vaultNameOf } from "../state/names.ts";
import { session } from "../state/session.ts";
import { showToast } from "../state/toasts.ts";
import { Chart } from "../ui/chart.tsx";
import { Menu } from "../ui/menu.tsx";
import { Page } from "../ui/page.tsx";
import { plural } from "../ui/plural.ts";
import { saveFile } from "../ui/save-file.ts";
import { formatDate, formatTime } from "../ui/time.ts";
import { csvOf } from "./csv.ts";
import { countByDay, type Listed } from "./entries.ts";
import { EntryList, itemName } from "./entry-table.tsx";
import { FilterBar } from "./filter-bar.tsx";
import { boundsOf, isFiltered, NO_FILTERS } from "./filters.ts";
import { loadEntries, type Log, LOGS } from "./load.ts";
import { entries, query, show, since } from "./state.ts";

/** The entries of a log, their filters, and their number on each day. */

export function ActivityView() {
  const { token, admin } = session.value!;
  const logs = (Object.keys(LOGS) as Log[]).filter((name) => (name === "admin" ? admin : token));
  useLayoutEffect(() => show(logs.includes(query.value.log) ? query.value.log : logs[0]!, NO_FILTERS), []);
  const { log } = query.value;
  useLayoutEffect(() => void (log === "admin" && loadNames("subjects")), [log]);
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
