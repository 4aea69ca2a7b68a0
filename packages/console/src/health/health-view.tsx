import { useSignal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";
import { VIEWS } from "../routes.ts";
import { health, loadHealth } from "../state/health.ts";
import { addressOf } from "../state/route.ts";
import { session } from "../state/session.ts";
import { Failure } from "../ui/failure.tsx";
import { Page } from "../ui/page.tsx";
import { formatSize } from "../ui/size.ts";
import { type Fact, factsOf, type Status, verdictOf, nameOfPart } from "./facts.ts";
import { State } from "./state.tsx";
import type { AdminVault, BrokenVault, Dependency, Health } from "@item-vault/client";
import { call } from "../state/client.ts";
import { Caption, type ChartProps, sum } from "../ui/chart.tsx";
import { Table } from "../ui/table.tsx";

/** The state of the service for people: the report of /health in words and unchanged, and the use of the database's space. */

const WORDS: Readonly<Record<Status, string>> = { ACTIVE: "Good", WARNING: "Needs attention", ERROR: "Fails" };

export function HealthView() {
  const failure = useSignal<unknown>(undefined);
  const load = async () => {
    failure.value = undefined;
    try {
      await loadHealth();
    } catch (error) {
      health.value = undefined; // What it said before may not be so any more.
      failure.value = error;
    }
  };
  useLayoutEffect(() => void load(), []);
  const again = (
    <button type="button" onClick={() => void load()}>
      Check again
    </button>
  );
  return (
    <Page title="Health" actions={again}>
      {!health.value && failure.value === undefined && <p class="quiet">Loading…</p>}
      {failure.value !== undefined && <Failure error={failure.value} retry={() => void load()} />}
      {health.value && (
        <>
          <Facts facts={factsOf(health.value.dependencies, Date.now())} />
          <Report health={health.value} />
        </>
      )}
      {session.value!.admin && <VaultSizes />}
    </Page>
  );
}

function Facts({ facts }: { readonly facts: readonly Fact[] }) {
  return (
    <>
      <output class="verdict">{verdictOf(facts)}</output>
      <ul class="facts">
        {facts.map((fact) => (
          <FactCard key={fact.title} {...fact} />
        ))}
      </ul>
    </>
  );
}

function FactCard({ title, text, action, part }: Fact) {
  const { used, limit } = part;
  const isOpen = action && (VIEWS[action.view].needs !== "admin" || session.value!.admin);
  return (
    <li>
      <h2>{title}</h2>
      <State part={part} words={WORDS} />
      <p>{text}</p>
      {used !== undefined && limit !== undefined && <DatabaseSize used={used} limit={limit} />}
      {isOpen && <a href={addressOf({ view: action.view })}>{action.label}</a>}
    </li>
  );
}

/** The size in bytes. The marks are those of DATABASE_LIMIT_MB: a warning from 80 %, refused writes from 95 % (docs/configuration.md). */
function DatabaseSize({ used, limit }: { readonly used: number; readonly limit: number }) {
  return (
    <label class="quiet">
      {formatSize(used)} used
      <meter min={0} max={limit} low={0.8 * limit} high={0.95 * limit} optimum={0} value={used} />
    </label>
  );
}

/** The largest vaults, by the bytes of their Items and of their Files. */

const SHOWN = 20;

type ListedVault = AdminVault | BrokenVault;

const nameOf = (vault: ListedVault): string => ("name" in vault ? vault.name : vault.id.slice(0, 8));
const bytesOf = ({ usage }: ListedVault): number => (usage.bytes ?? 0) + usage.fileBytes;

function VaultSizes() {
  const vaults = useSignal<readonly ListedVault[] | undefined>(undefined);
  const failure = useSignal<unknown>(undefined);
  useLayoutEffect(() => {
    call("GET /v1/admin/vaults").then(
      ({ data }) => (vaults.value = data),
      (error: unknown) => (failure.value = error),
    );
  }, []);
  if (failure.value !== undefined) return <Failure error={failure.value} />;
  if (!vaults.value || vaults.value.length === 0) return null;
  const largest = vaults.value.toSorted((a, b) => bytesOf(b) - bytesOf(a)).slice(0, SHOWN);
  const bars = largest.map((vault) => ({ label: nameOf(vault), values: [vault.usage.bytes ?? 0, vault.usage.fileBytes] }));
  return <SizeChart title="Largest vaults" series={["Items", "Files"]} bars={bars} format={formatSize} />;
}

const WIDTH = 1000;

/** A chart of few long names: one bar for each below the other, with its name and its figures beside it. */
function SizeChart({ title, series, bars, format = String }: ChartProps) {
  const most = Math.max(1, ...bars.map(({ values }) => sum(values)));
  const widthOf = (values: readonly number[]): number => (sum(values) / most) * WIDTH;
  return (
    <figure class="chart">
      <Caption title={title} series={series} />
      <ul class="bars">
        {bars.map(({ label, values }, position) => (
          <li key={position}>
            <span class="name">{label}</span>
            <svg viewBox={`0 0 ${WIDTH} 1`} preserveAspectRatio="none" aria-hidden="true">
              {values.map((value, index) => (
                <rect
                  key={series[index]}
                  class={`series-${index}`}
                  x={widthOf(values.slice(0, index))}
                  width={widthOf([value])}
                  height="1"
                />
              ))}
            </svg>
            <span class="quiet">
              {values
                .map((value, index) => `${index === 0 ? series[index] : series[index]!.toLowerCase()} ${format(value)}`)
                .join(", ")}
            </span>
          </li>
        ))}
      </ul>
    </figure>
  );
}

/** The unchanged report of /health, for the operator. It is expanded if anything is wrong. */

const Report = ({ health: { name, version, dependencies } }: { readonly health: Health }) => (
  <details class="help" open={dependencies.some(({ status }) => status !== "ACTIVE")}>
    <summary>Technical report</summary>
    <p class="quiet">
      {name} {version}
    </p>
    <Table label="Parts of the service" rows={dependencies} keyOf={({ service }) => service} columns={COLUMNS} />
  </details>
);

const REPORT_WORDS = { ACTIVE: "Works", WARNING: "Warning", ERROR: "Fails" } as const;

const COLUMNS = [
  { label: "Part", cell: ({ service }: Dependency) => <span class="name">{nameOfPart(service)}</span> },
  { label: "State", cell: (part: Dependency) => <State part={part} words={REPORT_WORDS} /> },
  { label: "Report", cell: ({ message }: Dependency) => message },
] as const;
