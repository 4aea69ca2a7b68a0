import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ok, type Result } from "../../src/model/result.ts";
import { NEWEST, readNewest, type ReadSlices } from "../../src/store/activity/merge.ts";
import { idOf, nestedLogs } from "../support/activity.ts";
import { runs } from "../support/runs.ts";

/** The merge of activity logs, compared with a plain sort of all entries. */

interface Entry {
  readonly id: string;
}

interface Page {
  readonly entries: readonly Entry[];
  readonly next: string | undefined;
}

type Logs = ReadonlyMap<string, readonly string[]>;

/** Logs in memory that are read as the database is, and the numbers of calls and of entries read. In: the ids that match a filter. */
function readerOf(logs: Logs, matches: (id: string) => boolean = () => true) {
  const count = { calls: 0, entries: 0 };
  const read: ReadSlices<Entry> = async (starts, size) => {
    count.calls++;
    return ok(
      starts.map(({ log, before }) => {
        const ids = logs.get(log)!.filter((id) => id < before);
        const entries = ids.toSorted().toReversed().slice(0, size);
        count.entries += entries.length;
        const found = entries.filter(matches).map((id) => ({ id }));
        return { log, entries: found, end: entries.at(-1) ?? "", more: entries.length === size };
      }),
    );
  };
  return { count, read };
}

const sorted = (logs: Logs): string[] => [...logs.values()].flat().toSorted().toReversed();

function unwrap<T>(result: Result<T>): T {
  if (!result.ok) throw new Error(result.failure.kind);
  return result.value;
}

/** The ids of one log or another: for each entry, oldest first, the number of its log. */
function logsOf(count: number, owners: readonly number[]): Logs {
  const logs = new Map(Array.from({ length: count }, (_, log) => [`log ${log}`, [] as string[]]));
  owners.forEach((owner, place) => logs.get(`log ${owner}`)!.push(idOf(place)));
  return logs;
}

const distribution: fc.Arbitrary<Logs> = fc
  .tuple(fc.integer({ min: 1, max: 101 }), fc.integer({ min: 0, max: 3_000 }), fc.integer({ min: 1, max: 6 }), fc.integer())
  .map(([logs, entries, skew, seed]) => {
    // A power of a uniform number: the larger the skew, the more entries have the first logs.
    let state = seed >>> 0;
    const random = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
    return logsOf(
      logs,
      Array.from({ length: entries }, () => Math.floor(random() ** skew * logs)),
    );
  });

describe("pages by cursor", () => {
  it("give all entries in order, none twice, in one call each; only the last page may be empty", async () => {
    await fc.assert(
      fc.asyncProperty(distribution, fc.integer({ min: 20, max: 1_000 }), async (logs, limit) => {
        const { count, read } = readerOf(logs);
        const all: string[] = [];
        for (let before = NEWEST, pages = 1; ; pages++) {
          const { entries, next } = unwrap(await readNewest(read, [...logs.keys()], { before, limit, calls: 1 }));
          expect(count.calls).toBe(pages);
          expect(entries.length).toBeLessThanOrEqual(limit);
          all.push(...entries.map(({ id }) => id));
          if (next === undefined) break;
          expect(entries.length).toBeGreaterThan(0);
          before = next;
        }
        expect(all).toEqual(sorted(logs));
      }),
      { numRuns: runs(10, 1_000) },
    );
  });

  it("of filtered logs give all entries that match, none twice, each in few calls and at most 6,000 entries read", async () => {
    const rare = fc.constantFrom(1, 2, 50, 10_000);
    await fc.assert(
      fc.asyncProperty(distribution, fc.integer({ min: 1, max: 1_000 }), rare, async (logs, limit, each) => {
        const matches = (id: string) => Number(id.slice(-12)) % each === 0;
        const { count, read } = readerOf(logs, matches);
        const all: string[] = [];
        for (let before: string | undefined = NEWEST; before !== undefined;) {
          Object.assign(count, { calls: 0, entries: 0 });
          const page: Page = unwrap(await readNewest(read, [...logs.keys()], { before, limit, calls: 3 }));
          expect(count.calls).toBeLessThanOrEqual(3);
          expect(count.entries).toBeLessThanOrEqual(6_000);
          expect(page.entries.length).toBeLessThanOrEqual(limit);
          all.push(...page.entries.map(({ id }) => id));
          expect(page.next === undefined || page.next < before).toBe(true);
          before = page.next;
        }
        expect(all).toEqual(sorted(logs).filter(matches));
      }),
      { numRuns: runs(10, 1_000) },
    );
  });

  it("of filtered logs pass the dense log quickly when the other logs end", async () => {
    const logs = logsOf(
      100,
      Array.from({ length: 20_000 }, (_, place) => (place < 990 ? place % 99 : 99)),
    );
    const { count, read } = readerOf(logs, (id) => id < idOf(10));
    let pages = 0;
    for (let before: string | undefined = NEWEST; before !== undefined; pages++)
      before = (unwrap(await readNewest(read, [...logs.keys()], { before, limit: 50, calls: 3 })) as Page).next;
    expect([pages, count.calls]).toEqual([10, 29]);
  });

  it("of filtered logs end at the id below which no entry is wanted", async () => {
    const logs = logsOf(
      1,
      Array.from({ length: 20_000 }, () => 0),
    );
    const { count, read } = readerOf(logs, (id) => id > idOf(19_990) || id < idOf(10));
    const search = { before: NEWEST, limit: 1_000, calls: 3, since: idOf(19_500) };
    const page = unwrap(await readNewest(read, [...logs.keys()], search));
    expect([page.entries.length, page.next, count.calls]).toEqual([9, undefined, 1]);
  });
});

describe("the newest entries", () => {
  it("are those of a plain sort, and take at most 8 calls and 10,000 entries", async () => {
    await fc.assert(
      fc.asyncProperty(distribution, fc.integer({ min: 1, max: 1_050 }), async (logs, limit) => {
        const { count, read } = readerOf(logs);
        const page = unwrap(await readNewest(read, [...logs.keys()], { before: NEWEST, limit, calls: 8 }));
        const all = sorted(logs);
        expect(page.entries.map(({ id }) => id)).toEqual(all.slice(0, limit));
        expect(page.next).toBe(all[limit] && all[limit - 1]);
        expect(count.calls).toBeLessThanOrEqual(8);
        expect(count.entries).toBeLessThanOrEqual(10_000);
      }),
      { numRuns: runs(40, 5_000) },
    );
  });

  it.each([
    [
      "one hot log",
      logsOf(
        101,
        Array.from({ length: 6_200 }, (_, place) => (place < 5_050 ? place % 101 : 0)),
      ),
    ],
    ["the worst case", new Map(nestedLogs().map((ids, log) => [`log ${log}`, ids]))],
  ])("take at most 7 calls and 9,000 entries of 101 logs: %s", async (_, logs) => {
    const { count, read } = readerOf(logs);
    const page = unwrap(await readNewest(read, [...logs.keys()], { before: NEWEST, limit: 1_050, calls: 8 }));
    expect(page.entries.map(({ id }) => id)).toEqual(sorted(logs).slice(0, 1_050));
    expect(count.calls).toBeLessThanOrEqual(7);
    expect(count.entries).toBeLessThanOrEqual(9_000);
  });
});
