import { describe, expect, it } from "vitest";
import { runs } from "../support/runs.ts";
import type { Call } from "./history/calls.ts";
import { checkHistory } from "./history/check.ts";
import { generateHistory, STABLE_ITEM, VERSIONS_KEPT } from "./history/reference-store.ts";
import { WRONG_ANSWERS } from "./history/wrong-answers.ts";

/** Tests checkHistory with random histories: it reports no violation in a linearizable history, and finds each wrong answer. */

const SEEDS = Array.from({ length: runs(30, 400) }, (_, seed) => seed);

/** The history with an added 412 between two reads of the version in its If-Match. */
function withWrongRefusal(history: readonly Call[]): Call[] {
  const end = Math.max(...history.map((call) => call.end));
  const last = history.findLast(({ kind, item }) => kind === "read" && item === STABLE_ITEM)!;
  const between = { start: end + 3, end: end + 4, outcome: "precondition failed" } as const;
  return [
    ...history,
    { ...last, start: end + 1, end: end + 2 },
    { kind: "put", item: STABLE_ITEM, value: "refused", ifMatch: last.state!.version, ...between },
    { ...last, start: end + 5, end: end + 6 },
  ];
}

describe("checkHistory", () => {
  it("finds no violation in the histories of the reference store, in which answers are lost", () => {
    for (const seed of SEEDS) expect(checkHistory(generateHistory(seed, 150).history, VERSIONS_KEPT), `seed ${seed}`).toEqual([]);
  });

  it.each(WRONG_ANSWERS)("finds %s", (_, rules, wrongAnswer) => {
    let histories = 0;
    for (const seed of SEEDS) {
      const { history, injected } = generateHistory(seed, 150, wrongAnswer);
      if (!injected) continue;
      histories++;
      const violated = checkHistory(history, VERSIONS_KEPT).map(({ rule }) => rule);
      expect(new Set(violated).intersection(new Set(rules)).size, `seed ${seed}: ${violated.join()}`).toBeGreaterThan(0);
    }
    expect(histories).toBeGreaterThan(SEEDS.length / 16);
  });

  it("finds a 412 although the version in If-Match was current all the time", () => {
    for (const seed of SEEDS) {
      const rules = checkHistory(withWrongRefusal(generateHistory(seed, 150).history), VERSIONS_KEPT).map(({ rule }) => rule);
      expect(rules, `seed ${seed}`).toEqual(["refused although If-Match matched"]);
    }
  });
});
