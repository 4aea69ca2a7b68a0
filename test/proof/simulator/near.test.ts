import { describe, expect, it, vi } from "vitest";
import type * as nearReads from "../../../src/store/d1/near-reads.ts";
import { isLong } from "../../support/runs.ts";
import { NEAR_PLANTS } from "./near-plants.ts";
import { EVERYTHING, type NearRun, runNear, STALLS_ONLY, type Waits } from "./near.ts";
import { planted } from "./plants.ts";
import type { Rule } from "./violations.ts";

/**
 * Reads of tokens with `stale` from replicas, beside writers, stalls of the primary, clocks that jump and restores of D1: few seeds, and many in the
 * long run. main.ts runs more.
 */

// An isolate makes its databases and looks at its states itself: a planted bug changes them here.
const timeFor = (db: D1Database, now: number): number => planted.plant.lookAt?.(db, now) ?? now;
vi.mock("../../../src/store/d1/near-reads.ts", async (original) => {
  const real = await original<typeof nearReads>();
  const changed: Partial<typeof nearReads> = {
    lookAtStates: (db, now) => real.lookAtStates(db, timeFor(db, now)),
    recordState: (db, bookmark, known, now) => real.recordState(db, bookmark, known, timeFor(db, now)),
    nearDatabase: (db, read) =>
      real.nearDatabase(db, {
        ...read,
        clock: () => timeFor(db, read.clock()),
        onServed: (served) => read.onServed(planted.plant.served?.(served, read) ?? served),
      }),
  };
  return { ...real, ...changed };
});

const SEEDS = isLong ? 100 : 2;
const SIZE = isLong ? 600 : 300;
/** The requests of a run with a planted bug, and the most seeds in which it has to be found. */
const PLANTED_SIZE = 300;
const PLANTED_SEEDS = 20;

const sum = (runs: readonly NearRun[], count: keyof NearRun["counts"]): number =>
  runs.reduce((total, run) => total + run.counts[count], 0);

async function runSeeds(beside: typeof EVERYTHING): Promise<NearRun[]> {
  const runs: NearRun[] = [];
  for (let seed = 1; seed <= SEEDS; seed++) {
    const run = await runNear(seed, SIZE, beside);
    expect(run.violations, `seed ${seed}`).toEqual([]);
    runs.push(run);
  }
  const names = Object.keys(runs[0]!.counts) as (keyof NearRun["counts"])[];
  console.log(names.map((name) => `${name} ${sum(runs, name)}`).join(", "));
  return runs;
}

describe("near reads keep their rules", () => {
  it("while the primary stalls, and most are answered then", async () => {
    const runs = await runSeeds(STALLS_ONLY);
    for (const stale of new Set(runs.flatMap(({ duringStalls }) => [...duringStalls.keys()]))) {
      const waits = runs.flatMap(({ duringStalls }) => duringStalls.get(stale) ?? []);
      console.log(`while the primary stalls, stale ${stale ?? "absent"}: ${describeWaits(waits)}`);
    }
    const near = runs.flatMap(({ duringStalls }) =>
      [...duringStalls].flatMap(([stale, waits]) => (stale === undefined ? [] : [waits])),
    );
    console.log(`while the primary stalls, any stale: ${describeWaits(near)}`);
    expect(near.length).toBeGreaterThan(0);
    expect(sum(runs, "byReplica")).toBeGreaterThan(sum(runs, "nearReads") / 2);
    expect(sum(runs, "unavailableOutside")).toBe(0);
  });

  it("while clocks jump and D1 is restored to an earlier time", async () => {
    const runs = await runSeeds(EVERYTHING);
    expect(sum(runs, "restores")).toBeGreaterThan(0);
    expect(sum(runs, "clockJumps")).toBeGreaterThan(0);
    expect(sum(runs, "unavailableOutside")).toBe(0);
  });
});

function describeWaits(waits: readonly Waits[]): string {
  const answered = waits.flatMap((wait) => wait.answered).toSorted((a, b) => a - b);
  const sent = waits.reduce((total, wait) => total + wait.sent, 0);
  const quantile = (share: number) => Math.round(answered[Math.floor(answered.length * share)] ?? 0);
  return `${answered.length} of ${sent} answered, p50 ${quantile(0.5)} ms, p99 ${quantile(0.99)} ms`;
}

describe("a planted bug is found, and the same seed has no violation without it", () => {
  it.each(Object.entries(NEAR_PLANTS))("%s", async (_, { plant, beside, rule, others }) => {
    const found = new Set<string>();
    let seed = (plant.seed ?? 1) - 1;
    for (const last = seed + PLANTED_SEEDS; !found.has(rule) && seed < last;)
      for (const one of (await runNear(++seed, PLANTED_SIZE, beside, plant)).violations) found.add(one.rule);
    console.log(`found with seed ${seed}: ${[...found].join(", ")}`);
    expect([...found].filter((one) => !others.includes(one as Rule))).toEqual([rule]);
    expect((await runNear(seed, PLANTED_SIZE, beside)).violations).toEqual([]);
  });
});
