import { expect, it } from "vitest";
import * as rewrites from "../../support/rewrites.ts";
import { KINDS, runGoingBack } from "./going-back.ts";
import { NO_PLANT } from "./plants.ts";

/** D1 goes back to an earlier time while a job is under way: few seeds, and many in the long run. */

/** With seed 40, D1 goes back between two writes of one step. */
const SEEDS = process.env["LONG_RUN"] === "1" ? Array.from({ length: 130 }, (_, index) => index + 1) : [1, 2, 40];

it.each(KINDS)("a job of %s notices that D1 went back, or its work is there", async (kind) => {
  const ends = new Map<string, number>();
  for (const seed of SEEDS) {
    const { violations, ended } = await runGoingBack(seed, kind);
    expect(violations, `seed ${seed}`).toEqual([]);
    ends.set(ended, (ends.get(ended) ?? 0) + 1);
  }
  console.log(kind, Object.fromEntries(ends));
});

it("a job of restore that does not look whether D1 has its writes is found", async () => {
  const plant = { ...NO_PLANT, rewrite: rewrites.withoutStepFence };
  let found = false;
  for (let seed = 1; !found && seed <= 100; seed++) found = (await runGoingBack(seed, "restore", plant)).violations.length > 0;
  expect(found).toBe(true);
});
