import { describe, expect, it } from "vitest";
import { checkHistory } from "./check.ts";
import type { Effect } from "./database.ts";
import type { Call, History, Reply, Write, WriteKind } from "./history.ts";

/** What the checker of the simulator (check.ts) says of histories of a few calls. */

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
  /** The kind of the failure that answers. */
  readonly refused?: string;
  /** `If-Match`. */
  readonly tag?: string;
  /** Whether the request has a key. Calls with a key and one value are one write. */
  readonly keyed?: boolean;
  /** The Item in the answer. */
  readonly shown?: { readonly version: number; readonly tag: string; readonly values: readonly string[] };
}

/** What no rule here looks at. */
const UNLOGGED = {
  requestId: "",
  link: null,
  servedBy: null,
  age: null,
  bookmark: null,
  time: 0,
  isolate: { ended: undefined, waiting: new Set<never>() },
} as const;

const STATUSES: Readonly<Record<string, number>> = { invalid: 400, item_not_found: 404, precondition: 412 };

function replyOf({ item, refused, shown }: Made): Reply {
  const none = { text: "", body: undefined, tag: null, retryAfter: null, failure: null, ...UNLOGGED };
  if (refused !== undefined) return { ...none, status: STATUSES[refused]!, failure: refused };
  if (!shown) return { ...none, status: 204 };
  const { version, tag, values } = shown;
  const body = { id: item, version, tags: values, fields: values.map((value) => ({ id: value, value })), files: [] };
  return { ...none, status: 200, body, text: JSON.stringify(body), tag };
}

const writeOf = ({ kind, item, value, version, file, tag, keyed = false }: Made): Write => ({
  kind,
  vault: VAULT,
  item,
  value,
  version,
  file,
  tag,
  keyed,
});

function callsOf(made: readonly Made[]): Call[] {
  const keyed = new Map<string, Write>();
  return made.map((call, number) => {
    const { item, value, ticks } = call;
    const write = keyed.get(value) ?? writeOf(call);
    const operations = new Set([keyed.has(value) ? `${value} again` : value]);
    if (write.keyed) keyed.set(value, write);
    const [start, , end] = ticks;
    return { number, write, read: undefined, vault: VAULT, item, actor: "", start, end, reply: replyOf(call), operations };
  });
}

/**
 * In: the calls in the order in which their operations arrived at the coordinator; how often an operation arrived, when not once; the ticks
 * from which D1 had no room and had room again. Out: the rules that the history violates.
 */
function rulesOf(
  calls: readonly Made[],
  deliveries: Readonly<Record<string, number>> = {},
  [full, free]: readonly [number, number] = [Infinity, Infinity],
): string[] {
  const sent = callsOf(calls);
  const ids = sent.map(({ operations }) => [...operations][0]!);
  const history: History = {
    calls: sent,
    adminCalls: [],
    parents: new Map(),
    quotas: new Map([[VAULT, 100]]),
    shortages: [
      { tick: 0, running: 0 },
      { tick: full, running: 1 },
      { tick: free, running: 0 },
    ],
    deliveries: new Map(ids.map((id) => [id, deliveries[id] ?? 1])),
  };
  const effects = calls
    .map((call, n) => ({ ...call, id: ids[n]! }))
    .filter(({ ticks: [, tick] }) => tick !== undefined)
    .toSorted((a, b) => a.ticks[1]! - b.ticks[1]!)
    .map(({ item, id, ticks: [, tick], made = null }, index): Effect => ({
      tick: tick!,
      kind: "log",
      vault: VAULT,
      id,
      action: "UPDATE",
      actor: "",
      item,
      version: made,
      sequence: index + 1,
      event: null,
    }));
  const { violations } = checkHistory(history, effects, [ids]);
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

  const destroyed = (ticks: Made["ticks"]): Made => ({ kind: "destroy-item", item: ITEM, value: "destroyed", ticks });
  const madeAgain = (ticks: Made["ticks"]): Made => ({ ...create, value: "made again", ticks });
  const lateOther: Made = { ...createOther, ticks: [9, 12, 20] };

  it("allows a creation that waited while its Item was destroyed to take effect after a later operation", () => {
    expect(rulesOf([create, deletion, destroyed([7, 11, 20]), madeAgain([9, 15, 20]), lateOther])).toEqual([]);
  });

  it("is violated by such a creation that arrived when the Item was destroyed already", () => {
    expect(rulesOf([create, deletion, destroyed([7, 8, 20]), madeAgain([9, 15, 20]), lateOther])).toEqual([ORDER]);
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

describe("an entity tag of an Item that was destroyed and made again under its id", () => {
  const before: readonly Made[] = [
    { ...create, shown: { version: 1, tag: "old", values: ["made"] } },
    deletion,
    { kind: "destroy-item", item: ITEM, value: "destroyed", ticks: [9, 10, 11] },
    { ...create, value: "made again", ticks: [12, 13, 14], shown: { version: 1, tag: "new", values: ["made again"] } },
  ];
  const conditional = { kind: "put", item: ITEM, value: "put" } as const;

  it.each([
    ["the Item before: the write may be refused", "old", []],
    ["the Item after: the write may not be refused", "new", ["refused although If-Match matched"]],
  ])("stands for version 1 of %s", (_, tag, rules) => {
    expect(rulesOf([...before, { ...conditional, tag, ticks: [15, undefined, 17], refused: "precondition" }])).toEqual(rules);
  });

  it.each([
    ["the Item before: the write may not take effect", "old", ["If-Match ignored"]],
    ["the Item after: the write may take effect", "new", []],
  ])("stands for version 1 of %s", (_, tag, rules) => {
    expect(rulesOf([...before, { ...conditional, tag, ticks: [15, 16, 17], made: 2 }])).toEqual(rules);
  });
});

describe("a request with a key that changed nothing", () => {
  const unarchive = { kind: "unarchive", item: ITEM, value: "unarchived", keyed: true } as const;
  const first: Made = { ...unarchive, ticks: [5, undefined, 6], shown: { version: 1, tag: "one", values: ["made"] } };
  const second: Made = { ...unarchive, ticks: [9, undefined, 10], shown: { version: 2, tag: "two", values: ["put"] } };
  const history = [create, first, put("put", 2, [7, 7.5, 8]), second];

  it("has one answer", () => {
    expect(rulesOf(history)).toEqual(["different answers to one write"]);
  });

  it("may have another answer later, when D1 had no room for the record of its key", () => {
    expect(rulesOf(history, {}, [4, 5.5])).toEqual([]);
  });

  it("may take effect later, when D1 had no room for the record of its key", () => {
    const archived: Made = { kind: "archive", item: ITEM, value: "archived", made: 2, ticks: [7, 7.5, 8] };
    const repeated: Made = { ...unarchive, ticks: [9, undefined, 10], shown: { version: 3, tag: "three", values: ["made"] } };
    const effect: Made = { ...repeated, ticks: [9, 9.5, 10], made: 3 };
    expect(rulesOf([create, first, archived, effect], {}, [4, 5.5])).toEqual([]);
  });

  it("may not have been a write that had to take effect, also when D1 had no room", () => {
    const lost: Made = { ...put("put", 2, [5, undefined, 6]), keyed: true, shown: { version: 2, tag: "two", values: ["put"] } };
    expect(rulesOf([create, lost], {}, [4, 5.5])).toEqual(["acknowledged write is lost"]);
  });
});
