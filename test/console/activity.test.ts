import type { ActivityEntry } from "@item-vault/client";
import { describe, expect, it } from "vitest";
import { countByDay, csvOf, foldByDay, itemsOf, kindOf } from "../../packages/console/src/activity/entries.ts";
import { boundsOf, isFiltered, NO_FILTERS, queryOf } from "../../packages/console/src/activity/filters.ts";
import { nameAgent, sentenceOf } from "../../packages/console/src/activity/sentences.ts";

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

/** How entries of the activity log are shown and exported. */

const READ: ActivityEntry = {
  requestId: "r",
  timestamp: "2026-11-22T10:00:00.000Z",
  action: "READ",
  result: "SUCCESS",
  actor: { id: "a", userAgent: "x", requestIp: "1.2.3.4" },
  resource: { type: "VAULT", vault: { id: "v" } },
};
const ITEM = { type: "ITEM", vault: { id: "v" }, item: { id: "i" } } as const;

describe("what sent a request", () => {
  const WEBKIT = "AppleWebKit/537.36 (KHTML, like Gecko)";
  it.each([
    [`Mozilla/5.0 (X11; Linux x86_64) ${WEBKIT} Chrome/140.0 Safari/537.36`, "Chrome on Linux"],
    [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${WEBKIT} Chrome/140.0 Safari/537.36 Edg/140.0`, "Edge on Windows"],
    [
      "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15",
      "Safari on macOS",
    ],
    [
      "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/140.0 Mobile/15E148 Safari/604.1",
      "Chrome on iOS",
    ],
    ["Mozilla/5.0 (Android 15; Mobile; rv:140.0) Gecko/140.0 Firefox/140.0", "Firefox on Android"],
    ["item-vault/1.0.0 node/24", "item-vault 1.0.0"],
    ["connect-sdk-go/v1.5.3", "connect-sdk-go 1.5.3"],
    ["curl/8.5.0", "curl 8.5.0"],
    ["Terraform", "Terraform"],
    ["Mozilla/5.0", "Mozilla 5.0"],
    ["", "unknown program"],
    ["(nothing)", "unknown program"],
  ])("%s is %s", (text, name) => expect(nameAgent(text)).toBe(name));
});

describe("the rows of entries", () => {
  it("are in days, with a run of reads of lists by one actor from one place as one row", () => {
    const day = (timestamp: string) => ({ ...READ, timestamp });
    const [noon, evening, before] = [new Date(2026, 10, 22, 12), new Date(2026, 10, 22, 20), new Date(2026, 10, 21, 12)].map(
      (time) => time.toISOString(),
    );
    const rows = foldByDay([
      day(evening!),
      day(evening!),
      day(noon!),
      { ...day(noon!), actor: { ...READ.actor, id: "b" } },
      { ...day(noon!), resource: ITEM },
      { ...day(noon!), resource: ITEM },
      { ...day(noon!), result: "DENY" },
      { requestId: "broken", timestamp: before!, broken: "integrity" },
      day(before!),
      { requestId: "unknown", broken: "integrity" },
    ]);
    expect(rows.map((one) => one.rows.map(({ count }) => count))).toEqual([[3, 1, 1, 1, 1], [1, 1], [1]]);
  });

  it("name the list of vaults where a run has no list of items", () => {
    const vaults = { ...READ, resource: { type: "VAULT" } } as const;
    const runs = [
      [vaults, vaults],
      [vaults, READ],
      [READ, vaults],
    ].map((run) => foldByDay(run)[0]!.rows);
    expect(runs.map(([row]) => [row!.count, row!.ofVaults])).toEqual([
      [2, true],
      [2, false],
      [2, false],
    ]);
  });

  it("between two days are those from the start of the first to the end of the last", () => {
    const bounds = boundsOf({ ...NO_FILTERS, from: "2026-11-21", until: "2026-11-22" });
    expect(bounds).toEqual({ from: new Date(2026, 10, 21).getTime(), before: new Date(2026, 10, 23).getTime() });
    expect(boundsOf(NO_FILTERS)).toEqual({});
    const odd = boundsOf({ ...NO_FILTERS, from: "0002-01-01", until: "9999-12-31" });
    expect([odd.from, odd.before! > Date.now(), odd.before! < Date.now() + 2 * 24 * 60 * 60 * 1000]).toEqual([0, true, true]);
  });
});

const NAMES = { actor: (id: string) => `actor ${id}`, vault: (id: string) => `vault ${id}`, item: (id: string) => `item ${id}` };

it("an export as CSV quotes what would end a cell, and runs no formula", () => {
  const hostile = { ...READ, actor: { ...READ.actor, userAgent: '=cmd|" /C calc",\n' } };
  const [head, row, broken] = csvOf([hostile, { requestId: "b", broken: "integrity" }], NAMES).split("\r\n");
  expect(head).toBe(
    "time,action,result,actor,token,address,program,resource,vault,items,version,request,actor name,vault name,item titles",
  );
  expect(row).toBe(`2026-11-22T10:00:00.000Z,READ,SUCCESS,a,,1.2.3.4,"'=cmd|"" /C calc"",\n",VAULT,v,,,r,actor a,vault v,`);
  expect(broken).toBe(",damaged,,,,,,,,,,b,,,");
});

const nameOf = (id: string) => ({ t: "ci", j: "a backup", v: "Team" })[id] ?? "";

describe("what an entry of the log of the administrator says", () => {
  it.each([
    ["CREATE", { type: "JOB", job: { id: "j" } }, "started a backup"],
    ["CREATE", { type: "JOB", job: { id: "x" } }, "started a job"],
    ["READ", { type: "KEY" }, "viewed root keys"],
    ["READ", { type: "PERSON" }, "viewed people"],
    ["READ", { type: "VAULT", vault: { id: "v" } }, "viewed the item list of Team"],
    ["CREATE", { type: "TOKEN", token: { id: "t" } }, "issued the token ci"],
    ["DELETE", { type: "TOKEN", token: { id: "gone" } }, "revoked a token"],
    ["UPDATE", { type: "ISSUER", issuer: { id: "gone" } }, "changed an issuer"],
    ["CREATE", { type: "SESSION", session: { id: "s" } }, "signed in"],
  ] as const)("has names and no ids: %s %j", (action, resource, text) =>
    expect(sentenceOf({ ...READ, action, resource }, nameOf)).toBe(text),
  );
});
