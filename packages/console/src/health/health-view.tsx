import type { Dependency, Health } from "@item-vault/client";
import { adminVaults, createList, nameOfVault, type VaultRow } from "../admin/lists.ts";
import { ListContent } from "../admin/rows.tsx";
import { VIEWS } from "../routes.ts";
import { health, loadHealth } from "../state/health.ts";
import { addressOf } from "../state/route.ts";
import { session } from "../state/session.ts";
import { Button } from "../ui/button.tsx";
import { Page } from "../ui/page.tsx";
import { formatSize } from "../ui/size.ts";
import { type Column, Table } from "../ui/table.tsx";
import { type Fact, factsOf, isEmpty, nameOfPart, type Status, verdictOf } from "./facts.ts";

/** The state of the service for people: the report of /health in words and unchanged, and the use of the database's space. */

const reports = createList(async () => {
  try {
    await loadHealth();
    return [health.value!];
  } catch (error) {
    health.value = undefined; // Its earlier text may no longer be true.
    throw error;
  }
});

export function HealthView() {
  const again = <Button text="Check again" onClick={() => void reports.load()} />;
  return (
    <Page title="Health" actions={again}>
      <ListContent list={reports} empty="">
        {() =>
          health.value && (
            <>
              <Facts facts={factsOf(health.value.dependencies, Date.now())} />
              <Report health={health.value} />
            </>
          )
        }
      </ListContent>
      {session.value!.admin && (
        <ListContent list={adminVaults} empty="No vaults yet.">
          {(vaults) => <VaultSizes vaults={vaults} />}
        </ListContent>
      )}
    </Page>
  );
}

/** The state of a part of the service in a word. A part that works but has no data yet is not reported as working. */
const State = ({ part, words }: Readonly<{ part: Dependency; words: Readonly<Record<Status, string>> }>) => (
  <span class={isEmpty(part) ? "state" : `state ${part.status.toLowerCase()}`}>
    {isEmpty(part) ? "None yet" : words[part.status]}
  </span>
);

const WORDS = { ACTIVE: "Good", WARNING: "Needs attention", ERROR: "Fails" } as const;

const Facts = ({ facts }: { readonly facts: readonly Fact[] }) => (
  <>
    <output class="verdict">{verdictOf(facts)}</output>
    <ul class="facts">
      {facts.map(({ title, text, view, part, part: { used, limit } }) => (
        <li key={title}>
          <h2>{title}</h2>
          <State part={part} words={WORDS} />
          <p>{text}</p>
          {used !== undefined && limit !== undefined && <DatabaseSize used={used} limit={limit} />}
          {view && (VIEWS[view].needs !== "admin" || session.value!.admin) && (
            <a href={addressOf({ view })}>View {title === "Jobs" ? "jobs" : VIEWS[view].label.toLowerCase()}</a>
          )}
        </li>
      ))}
    </ul>
  </>
);

/** The size in bytes. The marks are those of DATABASE_LIMIT_MB: a warning from 80 %, refused writes from 95 % (docs/configuration.md). */
const DatabaseSize = ({ used, limit }: { readonly used: number; readonly limit: number }) => (
  <label class="quiet">
    {formatSize(used)} used
    <meter min={0} max={limit} low={0.8 * limit} high={0.95 * limit} optimum={0} value={used} />
  </label>
);

const SHOWN = 20;

const sizeOf = ({ usage }: VaultRow): number => (usage.bytes ?? 0) + usage.fileBytes;

/** The largest vaults, by the bytes of their Items and of their Files. */
function VaultSizes({ vaults }: { readonly vaults: readonly VaultRow[] }) {
  const largest = vaults.toSorted((a, b) => sizeOf(b) - sizeOf(a)).slice(0, SHOWN);
  const columns: readonly Column<VaultRow>[] = [
    { label: "Vault", cell: (vault) => <span class="name">{nameOfVault(vault)}</span> },
    {
      label: "Size",
      cell: (vault) => <meter aria-label="Size" min={0} max={Math.max(1, sizeOf(largest[0]!))} value={sizeOf(vault)} />,
    },
    { label: "Items", cell: ({ usage }) => formatSize(usage.bytes ?? 0) },
    { label: "Files", cell: ({ usage }) => formatSize(usage.fileBytes) },
  ];
  return (
    <figure class="chart">
      <figcaption>Largest vaults</figcaption>
      <Table label="Largest vaults" rows={largest} keyOf={({ id }) => id} columns={columns} />
    </figure>
  );
}

const REPORT_WORDS = { ACTIVE: "Works", WARNING: "Warning", ERROR: "Fails" } as const;

const COLUMNS: readonly Column<Dependency>[] = [
  { label: "Part", cell: ({ service }) => <span class="name">{nameOfPart(service)}</span> },
  { label: "State", cell: (part) => <State part={part} words={REPORT_WORDS} /> },
  { label: "Report", cell: ({ message }) => message },
];

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
