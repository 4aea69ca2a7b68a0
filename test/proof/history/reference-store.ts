import { seeded } from "../../support/seeded.ts";
import type { Call, Kind, Outcome } from "./calls.ts";

/**
 * Random histories of a reference store, which carries out each call at one moment and then returns its answer or loses it.
 * So the histories are linearizable by construction, except for one wrong answer that a test can inject.
 */

interface StoredItem {
  readonly id: string;
  /** The contents of the versions, from version 1. */
  readonly contents: string[][];
  /** The earlier versions that can be read. */
  kept: number[];
  deleted: boolean;
  /** Whether the deleted Item was destroyed. */
  destroyed: boolean;
}

/** How many earlier versions an Item keeps. */
export const VERSIONS_KEPT = 3;

export interface Store {
  readonly items: Map<string, StoredItem>;
  readonly history: MutableCall[];
  readonly random: () => number;
}

type MutableCall = { -readonly [K in keyof Call]: Call[K] };
export type CallRequest = Omit<Call, "outcome" | "state" | "kept" | "text">;
export type Answer = Pick<Call, "outcome" | "state" | "kept" | "item">;
/** Gives a wrong answer to a call, or `undefined` if the call does not suit. It may change the store. */
export type WrongAnswer = (request: CallRequest, store: Store) => Answer | undefined;

/** An Item that is never deleted. */
export const STABLE_ITEM = "item 0";

export const current = ({ contents }: StoredItem) => ({ version: contents.length, content: contents.at(-1)! });

/** Adds a version, and drops the oldest ones. */
export function addVersion(stored: StoredItem, content: readonly string[]): void {
  stored.kept = [...stored.kept, stored.contents.length].slice(-VERSIONS_KEPT);
  stored.contents.push([...content]);
}

export function carryOut(request: CallRequest, { items }: Store): Answer {
  const { kind, item, value = "", ifMatch, source = 0 } = request;
  if (kind === "create") {
    const created: StoredItem = { id: `item ${items.size}`, contents: [[value]], kept: [], deleted: false, destroyed: false };
    items.set(created.id, created);
    return { outcome: "ok", item: created.id, state: current(created) };
  }
  const stored = items.get(item!)!;
  const { contents, kept } = stored;
  const last = contents.at(-1)!;
  const amongDeleted = kind === "undelete" || kind === "purge";
  if (stored.destroyed || stored.deleted !== amongDeleted) return { outcome: "not found" };
  if (kind === "read") return { outcome: "ok", state: current(stored) };
  if (kind === "versions") return { outcome: "ok", kept: kept.toReversed(), state: { version: contents.length } };
  const isKept = kept.includes(source);
  if (kind === "look") {
    if (!isKept && source !== contents.length) return { outcome: "version not found" };
    return { outcome: "ok", state: { version: source, content: contents[source - 1]! } };
  }
  if (ifMatch !== undefined && ifMatch !== contents.length) return { outcome: "precondition failed" };
  if ((kind === "restore" || kind === "destroy") && !isKept) return { outcome: "version not found" };
  if (kind === "put") addVersion(stored, [value]);
  if (kind === "patch") addVersion(stored, [...last, value]);
  if (kind === "restore") addVersion(stored, contents[source - 1]!);
  if (kind === "undelete") addVersion(stored, last);
  if (kind === "destroy") stored.kept = kept.filter((version) => version !== source);
  if (kind === "purge") stored.destroyed = true;
  stored.deleted = kind === "delete";
  return { outcome: "ok", state: ["delete", "destroy", "purge"].includes(kind) ? undefined : current(stored) };
}

/** The kinds of the calls, as often as each is drawn. */
const SHARES: readonly (readonly [Kind, number])[] = [
  ["read", 3],
  ["put", 1],
  ["patch", 3],
  ["create", 1],
  ["delete", 2],
  ["undelete", 1],
  ["purge", 1],
  ["look", 2],
  ["versions", 2],
  ["restore", 2],
  ["destroy", 1],
];
const KINDS = SHARES.flatMap(([kind, share]) => Array.from({ length: share }, () => kind));

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
    if (!wrong) return;
    moment += 50;
    call({ kind: "read", item: STABLE_ITEM }, 4, 0); // makes the effect of the wrong answer observable
  }

  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!;
  for (let n = 0; n < 3; n++) call({ kind: "create", value: `first ${n}` }, 4, 0);
  for (let n = 0; n < size; n++) {
    const item = pick([STABLE_ITEM, ...items.keys()]);
    const kind = pick(KINDS);
    const isKept = item === STABLE_ITEM && (kind === "delete" || kind === "undelete" || kind === "purge");
    if (kind === "read" || kind === "versions" || isKept) {
      call({ kind: isKept ? "read" : kind, item });
      continue;
    }
    const known = history.flatMap((one) => (one.item === item && one.state?.content ? one.state.version : []));
    const source = known.length > 0 ? pick(known.slice(-8)) : undefined;
    if (kind === "look" || kind === "restore" || kind === "destroy") {
      if (source === undefined || (kind !== "look" && !known.some((version) => version > source))) continue;
      if (kind === "look") call({ kind, item, source }, 4);
      else call({ kind, item, source, value: `value ${n}` });
      continue;
    }
    const sent = history.filter((one) => one.value !== undefined && (one.outcome === "ok" || one.outcome === "unknown"));
    if (random() < 0.2) {
      const repeated = pick(sent);
      const { value, ifMatch, source: from } = repeated;
      call({ kind: repeated.kind, value, ifMatch, source: from, item: repeated.kind === "create" ? undefined : repeated.item });
      continue;
    }
    const ifMatch =
      random() < 0.3 && kind !== "undelete" && kind !== "purge"
        ? items.get(item)!.contents.length - Math.floor(random() * 2)
        : undefined;
    call({ kind, value: `value ${n}`, ...(kind === "create" ? {} : { item, ifMatch }) });
  }
  moment += 100;
  for (const item of items.keys()) call({ kind: "read", item }, 4, 0);
  return { history, injected };
}
