import { afterEach, beforeAll, expect, it } from "vitest";
import { isLong } from "../support/runs.ts";
import { makeRelease, type Pair, startPair } from "./differential/pair.ts";
import { runDifferential } from "./differential/run.ts";

/**
 * The same random requests, some with faults, to the Worker in workerd and to `item-vault server`: both answer the same, and have stored the same.
 * A difference is that of a file of packages/host/, as a rule. To repeat a run: `SEED=<seed> npm test -- differential`; `REQUESTS` is its length.
 */

const { SEED, REQUESTS = "2000" } = process.env;

/** `npm test` has the same requests on every day, of a seed with which each operation succeeds once; at night they are 100,000 others. */
const first = SEED === undefined && isLong ? Date.now() % 2 ** 31 : Number(SEED ?? 3);
const SEEDS = Array.from({ length: SEED === undefined && isLong ? 50 : 1 }, (_, at) => first + at);

/** On a machine under load the short run takes minutes. */
const TIMEOUT_MS = 15 * 60_000;

let release: string;
beforeAll(async () => {
  release = await makeRelease();
});

/** In how many runs no request has carried an operation out. */
const missing = new Map<string, number>();

let pair: Pair | undefined;
afterEach(() => pair?.close());

it.each(SEEDS)(
  `workerd and the server answer ${REQUESTS} requests of the seed %i in the same way, and store the same`,
  async (seed) => {
    pair = await startPair(release);
    const outcome = await runDifferential(pair.sides, seed, Number(REQUESTS));
    expect(outcome.differences).toEqual([]);
    for (const operation of outcome.unsuccessful) missing.set(operation, (missing.get(operation) ?? 0) + 1);
  },
  TIMEOUT_MS,
);

it("some run has carried out each operation", () => {
  expect([...missing].filter(([, runs]) => runs === SEEDS.length)).toEqual([]);
});
