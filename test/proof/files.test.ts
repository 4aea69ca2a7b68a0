import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { DAY, expectNoOrphans, advanceClock, keyOf, runDueAlarms } from "../support/faults.ts";
import { freshItem, pattern } from "../support/files.ts";
import { runs } from "../support/runs.ts";
import { auditContents, auditLog } from "./history/audit.ts";
import { FAULT_RATES, shortenDeadlines } from "./history/fault-plan.ts";
import { isAllowed, runFiles } from "./history/files.ts";

beforeEach(() => {
  shortenDeadlines();
  vi.spyOn(console, "warn").mockReturnValue(); // the service reports every fault
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe("Files under faults of R2, D1 and the coordinators", () => {
  it.each([1, 2, 3, 4].slice(0, runs(1, 4)))(
    "a download is a current content or ends early, no write is lost, and no content is left without a row: seed %i",
    async (seed) => {
      const { fixture, names, errors, readCounts } = await runFiles({ seed, clients: 8, steps: runs(8, 12), rates: FAULT_RATES });
      expect(readCounts.complete).toBeGreaterThan(10);
      expect({ seed, errors }).toEqual({ seed, errors: [] });
      expect(await auditLog(fixture.vault, [])).toEqual({ lost: [], doubled: [] });
      // The first sweep marks the contents of uploads without a commit, the second one deletes them.
      for (const days of [2, 31]) {
        advanceClock(days * DAY);
        for (const name of names) await runDueAlarms(name);
      }
      await expectNoOrphans(fixture);
    },
  );
});

describe("auditContents", () => {
  it("finds a content without a row and a row without a content", async () => {
    const { vault, upload } = await freshItem();
    const { body: file } = await upload(pattern(10));
    const key = await keyOf(vault, file.id);
    expect(await auditContents(vault)).toEqual({ withoutRow: [], withoutContent: [] });
    await env.FILES.put(`${vault}/other/generation`, "content");
    await env.FILES.delete(key);
    expect(await auditContents(vault)).toEqual({ withoutRow: [`${vault}/other/generation`], withoutContent: [key] });
  });
});

const writeOf = (content: string | undefined, start: number, effect: boolean | undefined) => ({
  content,
  start,
  end: start + 2,
  effect,
});

describe("isAllowed", () => {
  const [a, b] = ["a", "b"];
  const FILE = [writeOf(a, 1, true), writeOf(b, 11, undefined), writeOf("refused", 21, false), writeOf(undefined, 31, true)];

  it.each([
    [5, 6, [a]],
    [12, 13, [a, b]],
    [15, 16, [a, b]],
    [25, 26, [a, b]],
    [32, 33, [a, b, undefined]],
    [35, 36, [undefined]],
    [12, 36, [a, b, undefined]],
  ])("from %i to %i allows the contents that the answers to the writer permit", (start, end, contents) => {
    for (const content of [a, b, "refused", "nobody's", undefined]) {
      expect([content, isAllowed(FILE, content, start, end)]).toEqual([content, contents.includes(content)]);
    }
  });
});
