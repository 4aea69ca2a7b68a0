import { describe, expect, it } from "vitest";
import { choosePart, filesOfOtherDays, TURN_DAYS } from "../../vitest.days.ts";
import { every, everyInShortRuns } from "../support/sample.ts";

/** The parts of the tests that `npm test` runs on each day. */

const PARTS = Array.from({ length: TURN_DAYS }, (_, part) => part);

const CASES = Array.from({ length: 40 }, (_, index) => index);
const casesThatNeverRan = (n: number, days: readonly number[]): number[] => {
  const ran = new Set(days.flatMap((day) => every(n, CASES, day)));
  return CASES.filter((one) => !ran.has(one));
};

describe.each([1, 2])("the cases of a file that runs once within %i days", (period) => {
  it.each([1, 2, 3, 4, 5, 6, 9, 10])("run all within two turns, when each run of the file has every %i. of them", (n) => {
    for (const first of PARTS.map((part) => 20_000 + part)) {
      const days = Array.from({ length: (2 * TURN_DAYS) / period }, (_, index) => first + period * index);
      expect(casesThatNeverRan(n, days)).toEqual([]);
    }
  });
});

it.each([[{ LONG_RUN: "1" }], [{ ALL: "1" }]])("a list that is a part in short runs only is whole with %j", (variables) => {
  const parts = PARTS.map((part) => everyInShortRuns(4, CASES, { SAMPLE: String(20_000 + part) }).length);
  expect(new Set(parts)).toEqual(new Set([10]));
  expect(everyInShortRuns(4, CASES, { SAMPLE: "20000", ...variables })).toEqual(CASES);
});

describe("the cases of a file of long tests", () => {
  it.each([1, 2, 3, 4, 5, 6, 10, 11, 12, 20])(
    "run all within some days, when each run of the file has every %i. of them",
    (n) => {
      const days = Array.from({ length: TURN_DAYS * n }, (_, index) => 20_000 + index);
      for (const part of PARTS) {
        const ran = days.filter((day) => choosePart(day, {}, ["node", "vitest", "run"]) === part);
        expect(casesThatNeverRan(n, ran)).toEqual([]);
      }
    },
  );
});

describe("a run", () => {
  it("has each file of long tests on one day of a turn, ordinary ones on every second day, and those of no group on each day", () => {
    const days = {
      "upgrade/a": TURN_DAYS,
      "cli/open-backup": TURN_DAYS,
      "cli/other": TURN_DAYS / 2,
      "api/a": TURN_DAYS / 2,
      "api/b": TURN_DAYS / 2,
    };
    const long = ["a", "b", "c", "d", "e", "f"].map((name) => `test/backup/${name}.test.ts`);
    const files = [...Object.keys(days).map((name) => `test/${name}.test.ts`), ...long, "test/backup/support.ts"];
    const runs = PARTS.flatMap((part) => files.filter((file) => !filesOfOtherDays(files, part).includes(file)));
    const daysOf = (file: string) => runs.filter((one) => one === file).length;
    expect(files.map(daysOf)).toEqual([...Object.values(days), ...long.map(() => 1), TURN_DAYS]);
    expect(filesOfOtherDays(files, null)).toEqual([]);
  });

  it.each([
    [{ LONG_RUN: "1" }, []],
    [{ ALL: "1" }, []],
    [{}, ["test/backup"]],
    [{}, ["backup/registry"]],
    [{}, ["--project", "browser"]],
    [{}, ["--project=browser"]],
    [{}, ["-t", "a name"]],
  ] as const)("has all test files with %j and the arguments %j", (environment, given) => {
    expect(choosePart(1, environment, ["node", "vitest", "run", ...given])).toBeNull();
  });

  it.each([[[]], [["--reporter=json"]], [["--sequence.shuffle.files"]]] as const)(
    "has a part of them with the arguments %j",
    (given) => {
      expect(choosePart(20_783, {}, ["node", "vitest", "run", ...given])).toBe(20_783 % TURN_DAYS);
    },
  );

  it("is refused where SAMPLE is no number", () => {
    expect(() => choosePart(Number("x"), {}, [])).toThrow("SAMPLE");
  });
});
