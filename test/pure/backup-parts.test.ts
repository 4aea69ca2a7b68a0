import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { areOfOneDay, cutGroups, cutItems, cutRows, PART_MAX, sharedBits, type Unit } from "../../src/store/backup/cut.ts";
import { countContents } from "../../src/store/backup/vault-state.ts";
import { runs } from "../support/runs.ts";

/** Where backups are cut into parts (docs/design/backups.md). */

const MAX = PART_MAX.characters;

const sumOf = (items: readonly Unit[]): number => items.reduce((sum, item) => sum + item.characters, 0);

/** A range that is too large is cut where its neighbours share the fewest bits. */
function rangesOf(items: readonly Unit[]): (readonly Unit[])[] {
  if (items.length <= 1 || sumOf(items) <= MAX) return items.length === 0 ? [] : [items];
  const shared = items.slice(1).map((item, index) => sharedBits(items[index]!.id, item.id));
  const cut = shared.indexOf(Math.min(...shared)) + 1;
  return [...rangesOf(items.slice(0, cut)), ...rangesOf(items.slice(cut))];
}

/** What `cutItems` has to give, told another way: a small range joins the part before it. */
function partsOf(items: readonly Unit[]): string[][] {
  const parts: Unit[][] = [];
  for (const range of rangesOf(items)) {
    const last = parts.at(-1);
    if (last && sumOf(range) < MAX / 8 && sumOf(last) + sumOf(range) <= MAX) last.push(...range);
    else parts.push([...range]);
  }
  return parts.map((part) => part.map(({ id }) => id));
}

/** The parts that a reader makes who gets so many Items at a time. */
function readParts(items: readonly Unit[], sizes: readonly number[]): string[][] {
  const parts: string[][] = [];
  let [waiting, read, before]: [Unit[], number, string | undefined] = [[], 0, undefined];
  for (let turn = 0; ; turn++) {
    const count = cutItems(waiting, before, read === items.length);
    if (count !== undefined) {
      parts.push(waiting.slice(0, count).map(({ id }) => id));
      before = waiting[count - 1]!.id;
      waiting = waiting.slice(count);
    } else if (read === items.length) return parts;
    else {
      const size = sizes[turn % sizes.length]!;
      waiting = [...waiting, ...items.slice(read, read + size)];
      read = Math.min(items.length, read + size);
    }
  }
}

/** Ids that share many or few bits, with their sizes. */
const items = fc
  .uniqueArray(
    fc.tuple(
      fc.oneof(
        fc.uuid(),
        fc.nat(40).map((n) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`),
      ),
      fc.oneof(fc.integer({ min: 1, max: MAX / 4 }), fc.constantFrom(1, MAX - 1, MAX, MAX + 1, 2 * MAX)),
    ),
    { selector: ([id]) => id, maxLength: 40 },
  )
  .map((list) => list.map(([id, characters]): Unit => ({ id, characters })).toSorted((a, b) => (a.id < b.id ? -1 : 1)));

describe("Items of a backup", () => {
  it("are cut by their ids and sizes alone, however they are read", () => {
    fc.assert(
      fc.property(items, fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 5 }), (list, sizes) => {
        expect(readParts(list, sizes)).toEqual(partsOf(list));
      }),
      { numRuns: runs(300, 20_000) },
    );
  });

  it("fill at most one part more than fits, and an Item that is larger is alone", () => {
    fc.assert(
      fc.property(items, (list) => {
        const sizeOf = new Map(list.map(({ id, characters }) => [id, characters]));
        for (const part of partsOf(list))
          expect(part.length === 1 || part.reduce((sum, id) => sum + sizeOf.get(id)!, 0) <= MAX).toBe(true);
      }),
      { numRuns: runs(100, 5_000) },
    );
  });

  it("change one part, or split it, when one of them changes within the size of a part", () => {
    const ids = Array.from({ length: 400 }, (_, index) => `${(index * 2_654_435_761) % 2 ** 32}`.padStart(10, "0")).toSorted();
    const list = ids.map((id): Unit => ({ id, characters: 60_000 }));
    const before = partsOf(list);
    for (let index = 0; index < list.length; index += 17) {
      const grown = list.with(index, { id: ids[index]!, characters: 500_000 });
      const known = new Set(before.filter((part) => !part.includes(ids[index]!)).map((part) => part.join()));
      const changed = partsOf(grown).filter((part) => !known.has(part.join()));
      expect(changed.length).toBeLessThanOrEqual(2);
    }
  });
});

const entry = (day: number, n: number, characters: number): Unit => ({
  id: `${(day * 86_400_000)
    .toString(16)
    .padStart(12, "0")
    .replace(/^(.{8})/, "$1-")}-7000-8000-${String(n).padStart(12, "0")}`,
  characters,
});

it("a writer who chooses the ids of Items gets few more parts than their bytes need", () => {
  // An Item that is larger than a part, and beside it at every digit of its id other small ones.
  const path = "00000000-0000-4000-8000-000000000000";
  const beside = [...path].flatMap((digit, at) =>
    digit === "-" ? [] : ["1", "2", "4", "8", "a"].map((other) => path.slice(0, at) + other + path.slice(at + 1)),
  );
  const list = [...new Set(beside), path].toSorted().map((id): Unit => ({ id, characters: id === path ? MAX + 1 : 500 }));
  expect(readParts(list, [1_000]).length).toBeLessThanOrEqual(4);
});

describe("the log of a backup", () => {
  it("is cut by day, and within a day after as many entries as fit", () => {
    const entries = [entry(1, 0, 10), entry(1, 1, MAX), entry(1, 2, 5), entry(2, 0, 5)];
    const lengths: (number | undefined)[] = [];
    for (let rest = entries; rest.length > 0;) {
      const count = cutGroups(rest, areOfOneDay, true)!;
      lengths.push(count);
      rest = rest.slice(count);
    }
    expect(lengths).toEqual([1, 1, 1, 1]);
    expect(cutGroups(entries.slice(3), areOfOneDay, false)).toBeUndefined();
    expect(cutGroups([entry(1, 0, 1), entry(1, 1, 1), entry(2, 0, 1)], areOfOneDay, false)).toBe(2);
  });

  it("has a part for a row that is larger than a part", () => {
    expect([cutRows([MAX + 1, 1], false), cutRows([MAX, 1], false), cutRows([1, 1], false), cutRows([1, 1], true)]).toEqual([
      1,
      1,
      undefined,
      2,
    ]);
  });
});

/** How many contents a snapshot names at least: more than there are would make a full snapshot each night. */

const part = (about: object) => ({ sha256: "", bytes: 1, rows: 1, ...about }) as Parameters<typeof countContents>[0][number];

it.each([
  ["no part", [], 0],
  ["parts of Items as a whole", [part({ contents: 2 }), part({ item: "b", contents: 3 })], 5],
  [
    "several parts of one Item, each of which may name the same contents",
    [part({ item: "a", contents: 2 }), part({ item: "a", contents: 3 })],
    3,
  ],
  [
    "a part that lacks contents, which were not copied",
    [part({ item: "a", contents: 4, missing: ["x"] }), part({ item: "b", contents: 1 })],
    1,
  ],
  ["parts without contents", [part({}), part({ item: "a" })], 0],
])("of %s", (_, parts, count) => {
  expect(countContents(parts)).toBe(count);
});
