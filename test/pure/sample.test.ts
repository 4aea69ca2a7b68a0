import { describe, expect, it } from "vitest";
import { chooseThird } from "../../vitest.long.ts";
import { every } from "../support/sample.ts";

/** The parts of the tests that `npm test` runs on each day. */

describe("the cases of a long test", () => {
  it.each([1, 2, 3, 4, 5, 6, 9, 12])(
    "run all within some days, when each run has every %i. of them and a third of the tests",
    (n) => {
      const cases = Array.from({ length: 40 }, (_, index) => index);
      const seen = new Set<number>();
      for (let day = 20_000; day < 20_000 + 3 * n; day++) {
        const third = chooseThird(day, {}, ["node", "vitest", "run"]);
        for (const [index, one] of every(n, cases, day).entries()) if (index % 3 === third) seen.add(one);
      }
      expect(cases.filter((one) => !seen.has(one))).toEqual([]);
    },
  );
});

describe("a run", () => {
  it.each([
    [{ LONG_RUN: "1" }, []],
    [{ ALL: "1" }, []],
    [{}, ["test/backup"]],
    [{}, ["backup/registry"]],
    [{}, ["--project", "browser"]],
    [{}, ["--project=browser"]],
    [{}, ["-t", "a name"]],
  ] as const)("has all long tests with %j and the arguments %j", (environment, given) => {
    expect(chooseThird(1, environment, ["node", "vitest", "run", ...given])).toBeNull();
  });

  it.each([[[]], [["--reporter=json"]], [["--sequence.shuffle.files"]]] as const)(
    "has a third of them with the arguments %j",
    (given) => {
      expect(chooseThird(20_783, {}, ["node", "vitest", "run", ...given])).toBe(2);
    },
  );

  it("is refused where SAMPLE is no number", () => {
    expect(() => chooseThird(Number("x"), {}, [])).toThrow("SAMPLE");
  });
});
