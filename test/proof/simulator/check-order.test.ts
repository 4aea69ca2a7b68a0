import { describe, expect, it } from "vitest";
import { checkHistory } from "./check.ts";
import type { Effect } from "./database.ts";
import type { Call, History, Reply, Write, WriteKind } from "./history.ts";

/** The order of arrival as the checker of the simulator sees it (check-order.ts), on histories of a few calls. */

const VAULT = "vault";

/** A call with one operation, whose id is its value, and its effect. In: the ticks of its start, of its effect and of its answer. */
interface Made {
  readonly kind: WriteKind;
  readonly item: string;
  readonly value: string;
  readonly version?: number;
  readonly file?: Write["file"];
  readonly ticks: readonly [start: number, effect: number | undefined, end: number];
  /** The version that the effect makes, or destroys. */
  readonly made?: number | null;
  readonly refused?: string;
}

function callOf({ kind, item, value, version, file, ticks: [start, , end], refused }: Made, number: number): Call {
  const write: Write = { kind, vault: VAULT, item, value, version, file, keyed: false };
  const none = { text: "", body: undefined, tag: null, retryAfter: null };
  const reply: Reply =
    refused === undefined ? { ...none, status: 204, failure: null } : { ...none, status: 404, failure: refused };
  return { number, write, read: undefined, vault: VAULT, item, actor: "", start, end, reply, operations: new Set([value]) };
}

/** In: the calls in the order in which their operations arrived at the coordinator. Out: the rules that the history violates. */
function rulesOf(calls: readonly Made[], deliveries: Readonly<Record<string, number>> = {}): string[] {
  const history: History = {
    calls: calls.map(callOf),
    quotas: new Map([[VAULT, 100]]),
    shortages: [{ tick: 0, running: 0 }],
    deliveries: new Map(calls.map(({ value }) => [value, deliveries[value] ?? 1])),
  };
  const effects = calls
    .filter(({ ticks: [, tick] }) => tick !== undefined)
    .toSorted((a, b) => a.ticks[1]! - b.ticks[1]!)
    .map(({ item, value, ticks: [, tick], made = null }, index): Effect => ({
      tick: tick!,
      kind: "log",
      vault: VAULT,
      id: value,
      action: "UPDATE",
      actor: "",
      item,
      version: made,
      sequence: index + 1,
      event: null,
    }));
  const { violations } = checkHistory(history, effects, [calls.map(({ value }) => value)]);
  return violations.map(({ rule }) => rule);
}

const ITEM = "item";
const OTHER = "other";
const ORDER = "not in the order of arrival";
const create = { kind: "create", item: ITEM, value: "made", ticks: [1, 2, 4], made: 1 } as const satisfies Made;
const createOther = { ...create, item: OTHER, value: "other made" } as const satisfies Made;
const put = (value: string, made: number, ticks: Made["ticks"], item = ITEM): Made => ({ kind: "put", item, value, made, ticks });
const deletion: Made = { kind: "delete", item: ITEM, value: "deleted", ticks: [5, 6, 8] };
const restoration = (ticks: Made["ticks"]): Made => ({ kind: "restore-item", item: ITEM, value: "restored", made: 2, ticks });

/** The destruction of a version that is refused as invalid. */
const destruction = (version: number): Made => {
  const ticks = [5, undefined, 9] as const;
  return { kind: "destroy-version", item: ITEM, value: "destroyed", version, ticks, refused: "invalid" };
};

describe("the order of arrival", () => {
  it("is kept when the effects follow it", () => {
    expect(rulesOf([create, put("one", 2, [5, 7, 9]), put("two", 3, [5, 8, 9])])).toEqual([]);
  });

  it("is violated by a write that took effect before an earlier one that was possible", () => {
    expect(rulesOf([create, put("one", 3, [5, 8, 9]), put("two", 2, [5, 7, 9])])).toEqual([ORDER]);
  });

  it("is violated in the same way when the two writes are to different Items", () => {
    const made = { ...createOther, ticks: [1, 3, 4] } as const;
    expect(rulesOf([create, made, put("one", 2, [5, 8, 9]), put("two", 2, [5, 7, 9], OTHER)])).toEqual([ORDER]);
  });

  it("allows a write to a deleted Item after the restoration behind it, while the caller of the restoration waits", () => {
    expect(rulesOf([create, deletion, put("one", 3, [9, 15, 17]), restoration([10, 13, 16])])).toEqual([]);
  });

  it("allows no write of a caller that has seen the restoration's answer to come before it", () => {
    expect(rulesOf([create, deletion, put("one", 3, [9, 15, 17]), restoration([10, 13, 14])])).toEqual([ORDER]);
  });

  it("does not excuse a write to another Item that the restoration has overtaken too", () => {
    const made = { ...createOther, ticks: [1, 3, 4] } as const;
    const overtaken = put("other", 2, [9, 14, 17], OTHER);
    expect(rulesOf([create, made, deletion, overtaken, put("one", 3, [9, 15, 17]), restoration([10, 13, 16])])).toEqual([ORDER]);
  });

  it("allows an unarchiving that changed nothing to take effect after the archiving behind it", () => {
    const unarchived: Made = { kind: "unarchive", item: ITEM, value: "unarchived", made: 3, ticks: [5, 8, 9] };
    const archived: Made = { kind: "archive", item: ITEM, value: "archived", made: 2, ticks: [5, 7, 9] };
    expect(rulesOf([create, unarchived, archived])).toEqual([]);
  });

  it("is not asked of an operation that arrived twice", () => {
    expect(rulesOf([create, put("one", 3, [5, 8, 9]), put("two", 2, [5, 7, 9])], { two: 2 })).toEqual([]);
  });
});

describe("the destruction of a version that is the current one", () => {
  it("may be refused as such", () => {
    expect(rulesOf([create, destruction(1)])).toEqual([]);
  });

  it("may not be refused as such when it names another version", () => {
    expect(rulesOf([create, put("one", 2, [3, 4, 4.5]), destruction(1)])).toEqual(["unexpected answer"]);
  });

  it("is the only write that may be refused as such", () => {
    expect(rulesOf([create, { ...destruction(1), kind: "restore-version" }])).toEqual(["unexpected answer"]);
  });
});
