import { describe, expect, it } from "vitest";
import { checkLog, type Exported } from "./check-log.ts";
import type { Call, History, Isolate } from "./history.ts";
import type { Reference } from "./reference.ts";

/** What the check of the log (check-log.ts) says of histories of reads. */

const ENDED = 10_000;

const entryOf = (requestId: string, changed: Partial<Exported> = {}): Exported => ({
  requestId,
  log: "vault",
  action: "READ",
  result: "SUCCESS",
  actor: { id: "token", userAgent: "0" },
  resource: { item: { id: "item" }, itemVersion: 1 },
  ...changed,
});

const ANSWER = {
  status: 200,
  text: "",
  body: { version: 1 },
  tag: null,
  retryAfter: null,
  failure: null,
  link: null,
  servedBy: null,
  age: null,
  bookmark: null,
};

/** In: when each read was answered, `undefined` when it was not; the isolate; the entries. Out: the rules that are violated. */
function rulesOf(times: readonly (number | undefined)[], isolate: Isolate, entries: readonly Exported[]): string[] {
  const calls = times.map((time, number): Call => {
    const reply = time === undefined ? undefined : { ...ANSWER, requestId: `r${number}`, time, isolate };
    const read = { kind: "item", item: "item" } as const;
    const sent = { number, write: undefined, read, vault: "vault", item: "item", actor: "token", operations: new Set<string>() };
    return { ...sent, start: 0, end: 0, reply };
  });
  const history = { calls, adminCalls: [], parents: new Map() } as unknown as History;
  const reference = { events: new Map(), applied: new Map(), revoked: new Map() } as unknown as Reference;
  return Array.from(checkLog(history, reference, entries), ({ rule }) => rule);
}

const running: Isolate = { ended: undefined, waiting: new Set() };
const ended: Isolate = { ended: ENDED, waiting: new Set() };
/** It ended while it waited for D1. */
const endedInFlush: Isolate = { ended: ENDED, waiting: new Set([{ since: ENDED - 2_500 }]) };

describe("the log of reads", () => {
  it.each<[name: string, ...Parameters<typeof rulesOf>, rules: string[]]>([
    ["may have the entry of each read", [1, 2], running, [entryOf("r0"), entryOf("r1")], []],
    ["must not lack one", [1, 2], running, [entryOf("r0")], ["request is not in the log"]],
    ["must not have one twice", [1], running, [entryOf("r0"), entryOf("r0")], ["entry is in the log twice"]],
    ["must name the Item", [1], running, [entryOf("r0", { resource: {} })], ["entry of another request"]],
    ["must be that of the vault", [1], running, [entryOf("r0", { log: "other" })], ["entry of another request"]],
    ["must have entries that open", [1], running, [entryOf("r0", { broken: "integrity" })], ["entry of another request"]],
    ["must have none of no request", [], running, [entryOf("r9")], ["entry without a request"]],
    ["may have that of a read that was not answered", [undefined], running, [entryOf("r0")], []],
    ["may lack those of the last 2 seconds of an isolate", [ENDED - 2_000, ENDED], ended, [], []],
    ["must not lack an earlier one", [ENDED - 2_001], ended, [], ["more entries lost than an isolate may lose"]],
    ["may lack those of a flush that did not end", Array.from({ length: 64 }, () => ENDED - 2_500), endedInFlush, [], []],
    [
      "must not lack more than a flush has",
      Array.from({ length: 65 }, () => ENDED - 2_500),
      endedInFlush,
      [],
      ["more entries lost than an isolate may lose"],
    ],
  ])("%s", (_, times, isolate, entries, rules) => {
    expect(rulesOf(times, isolate, entries)).toEqual(rules);
  });
});
