import type { ActivityEntry } from "@item-vault/client";
import { describe, expect, it } from "vitest";
import { boundsOf, NO_FILTERS } from "../../packages/console/src/activity/filters.ts";
import { csvOf, foldByDay } from "../../packages/console/src/activity/entries.ts";
import { nameAgent, sentenceOf } from "../../packages/console/src/activity/sentences.ts";

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
