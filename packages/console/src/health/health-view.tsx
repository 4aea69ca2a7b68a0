import { useSignal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";
import { VIEWS } from "../routes.ts";
import { health, loadHealth } from "../state/health.ts";
import { addressOf } from "../state/route.ts";
import { session } from "../state/session.ts";
import { Failure } from "../ui/failure.tsx";
import { Page } from "../ui/page.tsx";
import { formatSize } from "../ui/size.ts";
import { type Fact, factsOf, type Status, verdictOf } from "./facts.ts";
import { Report } from "./report.tsx";
import { State } from "./state.tsx";
import { VaultSizes } from "./vault-sizes.tsx";

/** The state of the service for people: what /health reports in their words, its report as it is, and what takes the space of the database. */

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

/** In: bytes. The marks are those of DATABASE_LIMIT_MB: a warning from 80 %, refused writes from 95 % (docs/configuration.md). */
function DatabaseSize({ used, limit }: { readonly used: number; readonly limit: number }) {
  return (
    <label class="quiet">
      {formatSize(used)} used
      <meter min={0} max={limit} low={0.8 * limit} high={0.95 * limit} optimum={0} value={used} />
    </label>
  );
}
