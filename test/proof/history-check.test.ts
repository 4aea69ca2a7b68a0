import { describe, expect, it } from "vitest";
import { checkHistory } from "./history/check.ts";
import type { Call } from "./history/facts.ts";
import { idealHistory, KEPT } from "./history/ideal.ts";
import { LIES } from "./history/lies.ts";

/** The checker is itself checked: it accuses no honest store, and finds each lie wherever the seed puts it. */

const SEEDS = Array.from({ length: 200 }, (_, seed) => seed);

/** The history, and then a 412 between two reads of the version that its If-Match named. */
function refusedWrongly(history: readonly Call[]): Call[] {
  const end = Math.max(...history.map((call) => call.end));
  const last = history.findLast(({ kind, item }) => kind === "read" && item === KEPT)!;
  const between = { start: end + 3, end: end + 4, outcome: "stale" } as const;
  return [
    ...history,
    { ...last, start: end + 1, end: end + 2 },
    { kind: "put", item: KEPT, value: "refused", ifMatch: last.seen!.version, ...between },
    { ...last, start: end + 5, end: end + 6 },
  ];
}

describe("the checker of histories", () => {
  it("accuses no store that does each write at one moment, whatever answers are lost", () => {
    for (const seed of SEEDS) expect(checkHistory(idealHistory(seed, 150).history), `seed ${seed}`).toEqual([]);
  });

  it.each(LIES)("finds %s", (_, rules, lie) => {
    let told = 0;
    for (const seed of SEEDS) {
      const { history, lied } = idealHistory(seed, 150, lie);
      if (!lied) continue;
      told++;
      const broken = checkHistory(history).map(({ rule }) => rule);
      expect(new Set(broken).intersection(new Set(rules)).size, `seed ${seed}: ${broken.join()}`).toBeGreaterThan(0);
    }
    expect(told).toBeGreaterThan(SEEDS.length / 2);
  });

  it("finds a 412 though the version was there all the time", () => {
    for (const seed of SEEDS) {
      const rules = checkHistory(refusedWrongly(idealHistory(seed, 150).history)).map(({ rule }) => rule);
      expect(rules, `seed ${seed}`).toEqual(["refused, though its If-Match was right"]);
    }
  });
});
