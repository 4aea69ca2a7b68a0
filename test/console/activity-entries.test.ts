import type { ActivityEntry } from "@item-vault/client";
import { describe, expect, it } from "vitest";
import { countByDay, itemsOf, kindOf } from "../../packages/console/src/activity/entries.ts";
import { isFiltered, NO_FILTERS, queryOf } from "../../packages/console/src/activity/filters.ts";

const entry = (more: Partial<ActivityEntry> = {}): ActivityEntry => ({
  requestId: "r",
  timestamp: "2026-11-22T10:00:00.000Z",
  action: "READ",
  result: "SUCCESS",
  actor: { id: "a", userAgent: "", requestIp: "" },
  resource: { type: "ITEM", vault: { id: "v" }, item: { id: "i" } },
  ...more,
});

describe("entries of the activity log", () => {
  it.each([
    ["READ", "SUCCESS", "reads"],
    ["CREATE", "SUCCESS", "writes"],
    ["UPDATE", "SUCCESS", "writes"],
    ["DELETE", "SUCCESS", "writes"],
    ["READ", "DENY", "denied"],
    ["DELETE", "DENY", "denied"],
  ] as const)("%s with %s counts as %s", (action, result, kind) => expect(kindOf({ action, result })).toBe(kind));

  it("name one Item, several, or none", () => {
    expect(itemsOf(entry())).toEqual(["i"]);
    expect(itemsOf(entry({ resource: { type: "ITEM", items: [{ id: "x" }, { id: "y" }] } }))).toEqual(["x", "y"]);
    expect(itemsOf(entry({ resource: { type: "VAULT", vault: { id: "v" } } }))).toEqual([]);
  });
});

it("an entry whose record does not open is in no count of a day, and keeps none of the others out", () => {
  const broken = { requestId: "b", timestamp: "2026-11-22T10:00:00.000Z", broken: "integrity" } as const;
  const today = new Date(2026, 10, 22, 12);
  expect(
    countByDay([broken, { requestId: "", broken: "integrity" }, entry({ timestamp: today.toISOString() })], today, 60),
  ).toEqual([{ day: "2026-11-22", reads: 1, writes: 0, denied: 0 }]);
});

describe("filters of the activity log", () => {
  it.each([
    [{}, {}],
    [{ vault: "v" }, { vault: "v" }],
    [
      { actor: "a", item: "i" },
      { actor: "a", item: "i" },
    ],
    [{ kind: "reads" as const }, { action: "READ", result: "SUCCESS" }],
    [
      { vault: "v", kind: "denied" as const },
      { vault: "v", result: "DENY" },
    ],
  ])("%o are the parameters %o", (chosen, query) => {
    const filters = { ...NO_FILTERS, ...chosen };
    expect(queryOf(filters)).toEqual(query);
    expect(isFiltered(filters)).toBe(Object.keys(chosen).length > 0);
  });
});

/** Noon of a day of November 2026, in the time zone of the test. */
const at = (day: number): string => new Date(2026, 10, day, 12).toISOString();

describe("the days of the chart", () => {
  const today = new Date(2026, 10, 22, 12);

  it("are all days from the oldest entry to today, also those without an entry", () => {
    const days = countByDay([entry({ timestamp: at(22) }), entry({ timestamp: at(20), result: "DENY" })], today, 60);
    expect(days).toEqual([
      { day: "2026-11-20", reads: 0, writes: 0, denied: 1 },
      { day: "2026-11-21", reads: 0, writes: 0, denied: 0 },
      { day: "2026-11-22", reads: 1, writes: 0, denied: 0 },
    ]);
  });

  it("are the latest ones when there are more than fit", () => {
    const days = countByDay([entry({ timestamp: at(1) })], today, 5);
    expect(days.map(({ day }) => day)).toEqual(["2026-11-18", "2026-11-19", "2026-11-20", "2026-11-21", "2026-11-22"]);
  });

  it("begin where the log was searched from, also before the oldest entry that was found", () => {
    const days = countByDay([entry({ timestamp: at(22) })], today, 60, new Date(at(20)));
    expect(days.map(({ day, reads }) => [day, reads])).toEqual([
      ["2026-11-20", 0],
      ["2026-11-21", 0],
      ["2026-11-22", 1],
    ]);
  });

  it("are today alone without an entry", () => expect(countByDay([], today, 5)).toHaveLength(1));
});
