import { describe, expect, it, vi } from "vitest";
import type * as cache from "../../../src/store/commit/cache.ts";
import type * as queue from "../../../src/vault/queue.ts";
import { sample } from "../../support/runs.ts";
import { planted, PLANTS } from "./plants.ts";
import { type Run, runSeed } from "./run.ts";

/**
 * The service that ships, from its front door to its SQL, on node:sqlite in virtual time: a seed determines everything that
 * happens. `npm run soak` runs 1,000,000 operations (main.ts).
 */

// The coordinators make their cache and their queue themselves: a planted bug changes them here.
vi.mock("../../../src/store/commit/cache.ts", async (original) => {
  const real = await original<typeof cache>();
  return { ...real, createRowCache: (limit: number) => planted.plant.cache(real.createRowCache(limit)) };
});
vi.mock("../../../src/vault/queue.ts", async (original) => {
  const real = await original<typeof queue>();
  const createQueue: typeof queue.createQueue = (options) => planted.plant.queue(real.createQueue)(options);
  return { ...real, createQueue };
});

/** The requests of a run, and the most after which a planted bug has to be found. */
const SIZE = 200;
const MOST = 100_000;

/** The runs without a planted bug, by seed and size: the same in each test. */
const withoutPlant = new Map<string, Promise<Run>>();
const runWithoutPlant = (seed: number, size = SIZE): Promise<Run> => {
  const name = `${seed} ${size}`;
  const known = withoutPlant.get(name) ?? runSeed(seed, size);
  withoutPlant.set(name, known);
  return known;
};

describe("the service under faults of every kind", () => {
  it.each([1, 5])("loses, doubles and reorders no write, and answers the truth: seed %i", async (seed) => {
    const { violations, effects } = await runWithoutPlant(seed);
    expect(violations).toEqual([]);
    expect(effects).toBeGreaterThan(SIZE / 4);
  });
});

describe("a planted bug is found, and the same seed has no violation without it", () => {
  it.each(sample(Object.entries(PLANTS), 3))("%s", async (name, plant) => {
    let operations = 0;
    let found: Run | undefined;
    for (let seed = plant.seed ?? 1; !found && operations < MOST; seed++) {
      const run = await runSeed(seed, plant.size ?? SIZE, plant);
      operations += run.operations;
      if (run.violations.length > 0) found = run;
    }
    expect(found, `not found in ${operations} operations`).toBeDefined();
    console.log(`${name}: found after ${operations} operations, with seed ${found!.seed}: ${found!.violations[0]!.rule}`);
    expect((await runWithoutPlant(found!.seed, plant.size)).violations).toEqual([]);
  });
});
