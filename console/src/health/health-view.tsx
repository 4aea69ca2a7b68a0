import { useSignal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";
import type { Dependency, Health } from "@item-vault/client";
import { call } from "../api/client.ts";
import { session } from "../state/session.ts";
import { Failure } from "../ui/failure.tsx";
import { Page } from "../ui/page.tsx";
import { Table } from "../ui/table.tsx";
import { formatSize } from "../ui/size.ts";
import { VaultSizes } from "./vault-sizes.tsx";

/** The state of the service: what /health reports, and what takes the space of the database. */

/** The names of the parts for people; a part of a newer release has the name of the API. */
const PARTS: Readonly<Record<string, string>> = {
  d1: "Database (D1)",
  schema: "Schema",
  capacity: "Capacity",
  r2: "Bucket (R2)",
  keys: "Root keys",
  coordinator: "Coordinator",
  queue: "Queue",
  "rate limits": "Rate limits",
  jobs: "Jobs",
  backups: "Backups",
  data: "Stored data",
  settings: "Settings",
};

const WORDS = { ACTIVE: "Works", WARNING: "Warning", ERROR: "Fails" } as const;

export function HealthView() {
  const health = useSignal<Health | undefined>(undefined);
  const failure = useSignal<unknown>(undefined);
  const load = async () => {
    failure.value = undefined;
    try {
      health.value = (await call("GET /health")).data;
    } catch (error) {
      failure.value = error;
    }
  };
  useLayoutEffect(() => void load(), []);
  const size = health.value?.dependencies.find(({ limit }) => limit !== undefined);
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
          <p class="quiet">
            {health.value.name} {health.value.version}
          </p>
          <Dependencies rows={health.value.dependencies} />
        </>
      )}
      {size && <DatabaseSize used={size.used ?? 0} limit={size.limit ?? 1} />}
      {session.value!.admin && <VaultSizes />}
    </Page>
  );
}

const Dependencies = ({ rows }: { readonly rows: readonly Dependency[] }) => (
  <Table label="Parts of the service" rows={rows} keyOf={({ service }) => service} columns={COLUMNS} />
);

/** A part that works and has nothing yet is not said to work. */
const State = ({ row: { status, message } }: { readonly row: Dependency }) => {
  const isEmpty = status === "ACTIVE" && message.startsWith("There is no ");
  return <span class={isEmpty ? "state" : `state ${status.toLowerCase()}`}>{isEmpty ? "None yet" : WORDS[status]}</span>;
};

const COLUMNS = [
  { label: "Part", cell: ({ service }: Dependency) => <span class="name">{PARTS[service] ?? service}</span> },
  {
    label: "State",
    cell: (row: Dependency) => <State row={row} />,
  },
  { label: "Report", cell: ({ message }: Dependency) => message },
] as const;

/** In: bytes. The marks are those of DATABASE_LIMIT_MB: a warning from 80 %, refused writes from 95 % (docs/configuration.md). */
function DatabaseSize({ used, limit }: { readonly used: number; readonly limit: number }) {
  return (
    <p class="database-size">
      <label>
        Database: {formatSize(used)} of {formatSize(limit)}
        <meter min={0} max={limit} low={0.8 * limit} high={0.95 * limit} optimum={0} value={used} />
      </label>
    </p>
  );
}
