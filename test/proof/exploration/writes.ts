import { callObject } from "../../../src/durable-object-calls.ts";
import { entityTag } from "../../../src/model/item.ts";
import type { Answer, Operation } from "../../../src/model/operation.ts";
import { fail, ok, type Result } from "../../../src/model/result.ts";
import type { Retention } from "../../../src/vault/working.ts";
import type { Call, Outcome } from "../history/calls.ts";
import { createCoordinator } from "./coordinator.ts";
import { createFaults, type Fault } from "./faults.ts";
import { type ChangeKind, changeOf, operationOf } from "./operations.ts";
import { type Broken, createStore, ITEM } from "./store.ts";
import type { Turns } from "./turns.ts";

/** Some concurrent writes to one Item, and what their clients see. */

/**
 * `once` is a PUT with If-Match; `twice` a PATCH that is sent two times at once, with one Idempotency-Key; `again` one
 * operation that two coordinators get, because its caller lost the first.
 */
export const WRITES = ["put", "patch", "delete", "once", "twice", "again"] as const;
/** Those of an Item that keeps earlier versions. The restored and the destroyed version is the first one. */
export const VERSION_WRITES = ["restore", "destroy", "undelete", "purge"] as const;
export type Written = (typeof WRITES)[number] | (typeof VERSION_WRITES)[number];

const AWAITS = ["arrival", "read", "write", "answer", "late"] as const;

export interface Scenario {
  readonly writes: readonly Written[];
  readonly coordinators: number;
  /** The awaits whose orders are explored. */
  readonly awaits?: readonly string[];
  /** The most faults of one run, and their kinds. */
  readonly faults?: number;
  readonly kinds?: readonly Fault[];
  readonly broken?: Broken;
  /** What the vault keeps; absent: no versions, and no deleted Items. */
  readonly retention?: Retention;
}

/** Out: the history that the clients see, with a read at the end. */
export async function play(
  free: Turns,
  { writes, coordinators, awaits = AWAITS, faults: most = 0, kinds = ["before", "after"], broken, retention }: Scenario,
): Promise<Call[]> {
  const turns: Turns = { ...free, wait: async (what) => (awaits.includes(what) ? free.wait(what) : undefined) };
  const store = createStore(broken, retention);
  const faults = createFaults(turns, most, kinds);
  const effects: Promise<void>[] = [];
  const connect = Array.from({ length: coordinators }, () =>
    createCoordinator({ store, turns, faults, late: (effect) => void effects.push(effect) }),
  );
  let tick = 0;
  const first = { version: 1, content: ["first"] };
  const history: Call[] = [
    { kind: "create", item: ITEM, value: "first", start: ++tick, end: ++tick, outcome: "ok", state: first },
  ];
  const second = { version: 2, content: ["second"] };
  if (retention)
    history.push({ kind: "put", item: ITEM, value: "second", start: ++tick, end: ++tick, outcome: "ok", state: second });
  const send = async (written: Written, value: string, operation: Operation, to: number): Promise<void> => {
    const start = ++tick;
    await turns.wait("arrival");
    const answer = await callObject(connect[to % coordinators]!, "uncertain", (one) => one.write(operation));
    const ifMatch = written === "once" ? 1 : undefined;
    const source = written === "restore" || written === "destroy" ? 1 : undefined;
    history.push({ kind: kindOf(written), item: ITEM, value, ifMatch, source, start, end: ++tick, ...factsOf(answer) });
  };
  const sending = writes.flatMap((written, n) => {
    const value = `write ${n}`;
    const operation = operationFor(written, value);
    const sent = send(written, value, operation, n);
    if (written === "again") return [sent, send(written, value, operation, n + 1)];
    return written === "twice" ? [sent, send(written, value, operationFor(written, value), n + 1)] : [sent];
  });
  await Promise.all(sending);
  await Promise.all(effects);
  const last = store.read().items.get(ITEM);
  const read = last?.ok ? ok({ item: last.value }) : fail("item_not_found");
  return [...history, { kind: "read", item: ITEM, start: ++tick, end: ++tick, ...factsOf(read) }];
}

function operationFor(written: Written, value: string): Operation {
  const change = changeOf(kindOf(written), value, written === "once" ? 1 : undefined);
  return operationOf(change, written === "twice" ? { key: value, request: "same" } : undefined);
}

function kindOf(written: Written): ChangeKind {
  if (written === "once") return "put";
  return written === "twice" || written === "again" ? "patch" : written;
}

const OUTCOMES: Readonly<Record<string, Outcome>> = {
  item_not_found: "not found",
  version_not_found: "version not found",
  precondition: "precondition failed",
  overtaken: "overtaken",
  uncertain: "unknown",
  unavailable: "refused",
};

function factsOf(answer: Result<Answer>): Pick<Call, "outcome" | "state" | "text"> {
  if (!answer.ok) {
    const outcome = OUTCOMES[answer.failure.kind];
    if (!outcome) throw new Error(answer.failure.kind);
    return { outcome };
  }
  const { item } = answer.value;
  const state = item && { version: item.version, tag: entityTag(item), content: item.tags };
  return { outcome: "ok", state, text: JSON.stringify(item) };
}
