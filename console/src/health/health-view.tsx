import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Dependency, Health } from "@item-vault/client";
import { send } from "../api/client.ts";
import { session } from "../state/session.ts";
import { Failure } from "../ui/failure.tsx";
import { formatSize } from "../ui/time.ts";
import { VaultSizes } from "./vault-sizes.tsx";

/** The state of the service: what /health reports, and what takes the space of the database. */

const WORDS = { ACTIVE: "Works", WARNING: "Warning", ERROR: "Fails" } as const;

export function HealthView() {
  const health = useSignal<Health | undefined>(undefined);
  const failure = useSignal<unknown>(undefined);
  const load = async () => {
    failure.value = undefined;
    try {
      health.value = (await (await send("GET", "/health")).json()) as Health;
    } catch (error) {
      failure.value = error;
    }
  };
  useEffect(() => void load(), []);
  const size = health.value?.dependencies.find(({ limit }) => limit !== undefined);
  return (
    <section class="page">
      <header>
        <h1 tabIndex={-1}>Health</h1>
        <button type="button" onClick={() => void load()}>
          Check again
        </button>
      </header>
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
    </section>
  );
}

function Dependencies({ rows }: { readonly rows: readonly Dependency[] }) {
  return (
    <table class="stacked">
      <thead>
        <tr>
          <th scope="col">Part</th>
          <th scope="col">State</th>
          <th scope="col">Report</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ service, status, message }) => (
          <tr key={service}>
            <td data-label="Part">{service}</td>
            <td data-label="State">
              <span class={`state ${status.toLowerCase()}`}>{WORDS[status]}</span>
            </td>
            <td data-label="Report">{message}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

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
