import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { DAY, expectNoOrphans, later, ring } from "../support/faults.ts";
import { isAllowed, runFiles } from "./history/files.ts";
import { auditLog } from "./history/log.ts";
import { ROUGH, shortenDeadlines } from "./history/plan.ts";

beforeEach(() => {
  shortenDeadlines();
  vi.spyOn(console, "warn").mockReturnValue(); // the service reports every fault
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe("Files, when R2, D1 and the coordinators fail", () => {
  it.each([1, 2, 3, 4])(
    "a download is a content that may be there, whole, or breaks off; nothing is lost; nothing is left over: seed %i",
    async (seed) => {
      const { at, names, wrong, seen } = await runFiles({ seed, clients: 8, steps: 12, rates: ROUGH });
      expect(seen.whole).toBeGreaterThan(10);
      expect({ seed, wrong }).toEqual({ seed, wrong: [] });
      expect(await auditLog(at.vault, [])).toEqual({ lost: [], doubled: [] });
      // The first sweep marks the contents of uploads without a commit, the second one deletes them.
      for (const days of [2, 31]) {
        later(days * DAY);
        for (const name of names) await ring(name);
      }
      await expectNoOrphans(at);
    },
  );
});

const written = (content: string | undefined, start: number, effect: boolean | undefined) => ({
  content,
  start,
  end: start + 2,
  effect,
});

describe("what a reader of a File may get", () => {
  const [a, b] = ["a", "b"];
  const FILE = [written(a, 1, true), written(b, 11, undefined), written("refused", 21, false), written(undefined, 31, true)];

  it.each([
    [5, 6, [a]],
    [12, 13, [a, b]],
    [15, 16, [a, b]],
    [25, 26, [a, b]],
    [32, 33, [a, b, undefined]],
    [35, 36, [undefined]],
    [12, 36, [a, b, undefined]],
  ])("from %i to %i follows from what its writer was told", (start, end, contents) => {
    for (const content of [a, b, "refused", "nobody's", undefined]) {
      expect([content, isAllowed(FILE, content, start, end)]).toEqual([content, contents.includes(content)]);
    }
  });
});
