import { seeded } from "../../support/bindings.ts";
import type { Call, Kind, Outcome } from "./calls.ts";

/**
 * Random histories of a reference store, which carries out each call at one moment and then returns its answer or loses it.
 * So the histories are linearizable by construction, except for one wrong answer that a test can inject.
 */

interface StoredItem {
  readonly id: string;
  /** The contents of the versions, from version 1. */
  readonly contents: string[][];
  deleted: boolean;
}

export interface Store {
  readonly items: Map<string, StoredItem>;
  readonly history: MutableCall[];
  readonly random: () => number;
}

type MutableCall = { -readonly [K in keyof Call]: Call[K] };
export type CallRequest = Omit<Call, "outcome" | "state" | "text">;
export type Answer = Pick<Call, "outcome" | "state" | "item">;
/** Gives a wrong answer to a call, or `undefined` if the call does not suit. It may change the store. */
export type WrongAnswer = (request: CallRequest, store: Store) => Answer | undefined;

/** An Item that is never deleted. */
export const STABLE_ITEM = "item 0";

export const current = ({ contents }: StoredItem) => ({ version: contents.length, content: contents.at(-1)! });

export function carryOut({ kind, item, value = "", ifMatch }: CallRequest, { items }: Store): Answer {
  if (kind === "create") {
    const created: StoredItem = { id: `item ${items.size}`, contents: [[value]], deleted: false };
    items.set(created.id, created);
    return { outcome: "ok", item: created.id, state: current(created) };
  }
  const stored = items.get(item!)!;
  if (stored.deleted) return { outcome: "not found" };
  if (kind === "read") return { outcome: "ok", state: current(stored) };
  if (ifMatch !== undefined && ifMatch !== stored.contents.length) return { outcome: "precondition failed" };
  if (kind === "delete") stored.deleted = true;
  else stored.contents.push(kind === "put" ? [value] : [...stored.contents.at(-1)!, value]);
  return { outcome: "ok", state: kind === "delete" ? undefined : current(stored) };
}

/** Out: the history, and whether the wrong answer was injected into it. The history ends with a read of every Item. */
export function generateHistory(seed: number, size: number, wrongAnswer?: WrongAnswer): { history: Call[]; injected: boolean } {
  const store: Store = { items: new Map(), history: [], random: seeded(seed) };
  const { items, history, random } = store;
  const acknowledged = new Map<string, Answer>();
  let injected = false;
  let moment = 0;

  /** The store carries out the call at one moment; the request is sent before it, and the answer arrives after it. */
  function call(request: Omit<CallRequest, "start" | "end">, delay = 40, loss = 0.15): void {
    moment += 10;
    const timed = { ...request, start: moment - delay * random(), end: moment + delay * random() };
    const wrong = injected || moment < size * 3 ? undefined : wrongAnswer?.(timed, store);
    injected ||= wrong !== undefined;
    const answer = wrong ?? acknowledged.get(request.value ?? "") ?? (random() < loss / 3 ? undefined : carryOut(timed, store));
    if (request.value !== undefined && answer?.outcome === "ok") acknowledged.set(request.value, answer);
    const lost = !answer || (!wrong && random() < loss);
    const received = answer && !lost ? { ...answer, item: request.item ?? answer.item, text: JSON.stringify(answer) } : undefined;
    history.push({ ...timed, ...(received ?? { outcome: "unknown" satisfies Outcome }) });
    if (wrong) call({ kind: "read", item: STABLE_ITEM }, 4, 0); // makes the effect of the wrong answer observable
  }

  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!;
  for (let n = 0; n < 3; n++) call({ kind: "create", value: `first ${n}` }, 4, 0);
  for (let n = 0; n < size; n++) {
    const item = pick([STABLE_ITEM, ...items.keys()]);
    const kind = pick<Kind>(["read", "read", "read", "put", "patch", "patch", "patch", "delete", "create"]);
    if (kind === "read" || (kind === "delete" && item === STABLE_ITEM)) {
      call({ kind: "read", item });
      continue;
    }
    const sent = history.filter((one) => one.value !== undefined && (one.outcome === "ok" || one.outcome === "unknown"));
    if (random() < 0.2) {
      const repeated = pick(sent);
      const { value, ifMatch } = repeated;
      call({ kind: repeated.kind, value, ifMatch, item: repeated.kind === "create" ? undefined : repeated.item });
      continue;
    }
    const ifMatch = random() < 0.3 ? items.get(item)!.contents.length - Math.floor(random() * 2) : undefined;
    call({ kind, value: `value ${n}`, ...(kind === "create" ? {} : { item, ifMatch }) });
  }
  moment += 100;
  for (const item of items.keys()) call({ kind: "read", item }, 4, 0);
  return { history, injected };
}
