import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { withoutFence } from "../support/bindings.ts";
import { checkHistory } from "./history/check.ts";
import { type Load, runLoad } from "./history/clients.ts";
import { DOUBLED, LOST, type Rule } from "./history/facts.ts";
import { auditLog } from "./history/log.ts";
import { ROUGH, shortenDeadlines } from "./history/plan.ts";
import { isLong, runs } from "../support/runs.ts";

/**
 * Nothing lost, nothing doubled, under load and faults: `npm test` runs 5 seeds of 250 operations, `npm run soak` 100 of
 * 1,000. A failure prints its seed, and `npx vitest run test/proof/load.test.ts -t "seed 7$"` runs that one again (after a
 * soak with LONG_RUN=1): every fault, wait and request is drawn from it, so the same is asked and the same goes wrong. In
 * which order what runs at once comes to pass is workerd's, within the waits.
 */

const SEEDS = Array.from({ length: runs(5, 100) }, (_, index) => index + 1);
const SIZE = { operations: isLong ? 1_000 : 250, clients: 25 };

/** What the seeds came to, in all. */
const totals = { operations: 0, observations: 0, lost: 0, doubled: 0, violations: 0 };
const faults = new Map<string, number>();

beforeEach(() => {
  shortenDeadlines();
  vi.spyOn(console, "warn").mockReturnValue(); // the service reports every fault
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

afterAll(() => {
  const { operations, observations, ...wrong } = totals;
  const lines = Object.entries({ operations, observations, ...Object.fromEntries(faults), ...wrong });
  console.log(lines.map(([name, count]) => `${name}: ${count}`).join("\n"));
});

/** Runs one seed. Out: all that is wrong with it. */
async function judge(load: Omit<Load, "rates">) {
  const { vault, recorder, plan } = await runLoad({ ...load, rates: ROUGH });
  const violations = checkHistory(recorder.history);
  const audit = await auditLog(vault, recorder.history);
  return { recorder, plan, violations, audit };
}

describe("clients of one vault with two coordinators and faults of every kind", () => {
  it.each(SEEDS)("see one history, in which nothing is lost and nothing doubled: seed %i", async (seed) => {
    const { recorder, plan, violations, audit } = await judge({ seed, ...SIZE });
    const broken = (rules: ReadonlySet<Rule>) => violations.filter(({ rule }) => rules.has(rule)).length;
    totals.operations += SIZE.operations;
    totals.observations += recorder.history.length;
    totals.lost += broken(LOST) + audit.lost.length;
    totals.doubled += broken(DOUBLED) + audit.doubled.length;
    totals.violations += violations.length + recorder.strange.length;
    for (const [fault, count] of plan.counts) faults.set(fault, (faults.get(fault) ?? 0) + count);
    expect({ seed, violations, audit, strange: recorder.strange }).toEqual({
      seed,
      violations: [],
      audit: { lost: [], doubled: [] },
      strange: [],
    });
  });
});

/** What the promise rests on, taken out of the SQL of the coordinators: then a seed must fail, and fail again. */
const WITHOUT: readonly (readonly [string, (sql: string) => string])[] = [
  ["the fence", withoutFence],
  // store/write/rows.ts and store/write/fence.ts: no key is known.
  ["the kept answers", (sql) => sql.replace("FROM replays WHERE", "FROM replays WHERE 0 AND")],
];

describe.each(WITHOUT)("without %s", (_, rewrite) => {
  it.each([1, 1])("a seed fails, each time that it is run: seed %i", async (seed) => {
    const { violations } = await judge({ seed, ...SIZE, rewrite });
    expect(violations).not.toEqual([]);
  });
});
