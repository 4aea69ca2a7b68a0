import type { Answer, Operation } from "../../../src/model/operation.ts";
import { fail, ok, type Result } from "../../../src/model/result.ts";
import { createQueue } from "../../../src/vault/queue.ts";
import type { Call, Outcome } from "./facts.ts";
import { type Broken, changeFor, coordinator, createStore, ITEM, operation } from "./memory.ts";
import type { Turns } from "./orders.ts";

/** A few writes at once to one Item, through the real queue and the coordinator's core. */

/**
 * `once` is a PUT with If-Match; `twice` a PATCH that is sent two times at once, with one Idempotency-Key; `again` one
 * operation that two coordinators get, because its caller lost the first.
 */
export const WRITES = ["put", "patch", "delete", "once", "twice", "again"] as const;
export type Written = (typeof WRITES)[number];

const ALL = ["arrival", "read", "write", "answer"] as const;

export interface Scenario {
  readonly writes: readonly Written[];
  readonly coordinators: number;
  /** The awaits that have orders. */
  readonly awaits?: readonly string[];
  /** How many D1 calls may fail, before or after the commit; each of them, in some run. */
  readonly faults?: number;
  readonly broken?: Broken;
}

/** Out: what the clients saw, a last look included. */
export async function play(free: Turns, { writes, coordinators, awaits = ALL, faults = 0, broken }: Scenario): Promise<Call[]> {
  const turns: Turns = { ...free, wait: async (what) => (awaits.includes(what) ? free.wait(what) : undefined) };
  const store = createStore(broken);
  const left = { left: faults };
  const limits = { waiting: 256, waitingBytes: 1_000, group: 32 };
  const queues = Array.from({ length: coordinators }, () =>
    createQueue<Operation, Result<Answer>>({
      commit: coordinator(store, turns, left),
      busy: fail("busy"),
      failed: () => fail("internal"),
      ...limits,
    }),
  );
  let tick = 0;
  const first = { version: 1, content: ["first"] };
  const history: Call[] = [
    { kind: "create", item: ITEM, value: "first", start: ++tick, end: ++tick, outcome: "ok", seen: first },
  ];
  const send = async (written: Written, value: string, sent: Operation, queue: number): Promise<void> => {
    const start = ++tick;
    await turns.wait("arrival");
    const answer = await queues[queue % coordinators]!.submit(sent);
    const ifMatch = written === "once" ? 1 : undefined;
    history.push({ kind: kindOf(written), item: ITEM, value, ifMatch, start, end: ++tick, ...told(answer) });
  };
  const sent = writes.flatMap((written, n) => {
    const value = `write ${n}`;
    const one = make(written, value);
    const sending = send(written, value, one, n);
    if (written === "again") return [sending, send(written, value, one, n + 1)];
    return written === "twice" ? [sending, send(written, value, make(written, value), n + 1)] : [sending];
  });
  await Promise.all(sent);
  const last = store.read().items.get(ITEM);
  const look = last?.ok ? ok({ item: last.value }) : fail("item_not_found");
  return [...history, { kind: "read", item: ITEM, start: ++tick, end: ++tick, ...told(look) }];
}

function make(written: Written, value: string): Operation {
  const change = changeFor(kindOf(written), value, written === "once" ? 1 : undefined);
  return operation(change, written === "twice" ? { key: value, request: "same" } : undefined);
}

function kindOf(written: Written): "put" | "patch" | "delete" {
  if (written === "once") return "put";
  return written === "twice" || written === "again" ? "patch" : written;
}

const OUTCOMES: Readonly<Record<string, Outcome>> = {
  item_not_found: "gone",
  precondition: "stale",
  overtaken: "unknown",
  uncertain: "unknown",
};

function told(answer: Result<Answer>): Pick<Call, "outcome" | "seen" | "text"> {
  if (!answer.ok) {
    const outcome = OUTCOMES[answer.failure.kind];
    if (!outcome) throw new Error(answer.failure.kind);
    return { outcome };
  }
  const { item } = answer.value;
  const seen = item && { version: item.version, content: item.tags };
  return { outcome: "ok", seen, text: JSON.stringify(item) };
}
