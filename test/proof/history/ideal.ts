import { seeded } from "../../support/bindings.ts";
import type { Call, Kind, Outcome } from "./facts.ts";

/**
 * Histories of a store that needs no service: it does each call at one moment, and then its answer is shown, or lost on
 * the way. So they are right by construction, except for the one lie that the store may be told to tell.
 */

interface Stored {
  readonly id: string;
  /** The contents of its versions, from 1. */
  readonly contents: string[][];
  gone: boolean;
}

export interface World {
  readonly items: Map<string, Stored>;
  readonly history: Draft[];
  readonly random: () => number;
}

type Draft = { -readonly [K in keyof Call]: Call[K] };
export type Asked = Omit<Call, "outcome" | "seen" | "text">;
export type Answer = Pick<Call, "outcome" | "seen" | "item">;
/** Answers a call otherwise than the store should, if the call suits it; it may change the store as it likes. */
export type Lie = (asked: Asked, world: World) => Answer | undefined;

/** The Item that nobody deletes. */
export const KEPT = "item 0";

export const current = ({ contents }: Stored) => ({ version: contents.length, content: contents.at(-1)! });

export function carryOut({ kind, item, value = "", ifMatch }: Asked, { items }: World): Answer {
  if (kind === "create") {
    const made: Stored = { id: `item ${items.size}`, contents: [[value]], gone: false };
    items.set(made.id, made);
    return { outcome: "ok", item: made.id, seen: current(made) };
  }
  const stored = items.get(item!)!;
  if (stored.gone) return { outcome: "gone" };
  if (kind === "read") return { outcome: "ok", seen: current(stored) };
  if (ifMatch !== undefined && ifMatch !== stored.contents.length) return { outcome: "stale" };
  if (kind === "delete") stored.gone = true;
  else stored.contents.push(kind === "put" ? [value] : [...stored.contents.at(-1)!, value]);
  return { outcome: "ok", seen: kind === "delete" ? undefined : current(stored) };
}

/** Out: the history, and whether the lie was told. It ends with a read of every Item. */
export function idealHistory(seed: number, size: number, lie?: Lie): { history: Call[]; lied: boolean } {
  const world: World = { items: new Map(), history: [], random: seeded(seed) };
  const { items, history, random } = world;
  const done = new Map<string, Answer>();
  let lied = false;
  let moment = 0;

  /** The store acts at one moment; the request was sent before, and the answer comes after. */
  function call(asked: Omit<Asked, "start" | "end">, patience = 40, loss = 0.15): void {
    moment += 10;
    const timed = { ...asked, start: moment - patience * random(), end: moment + patience * random() };
    const told = lied || moment < size * 3 ? undefined : lie?.(timed, world);
    lied ||= told !== undefined;
    const answer = told ?? done.get(asked.value ?? "") ?? (random() < loss / 3 ? undefined : carryOut(timed, world));
    if (asked.value !== undefined && answer?.outcome === "ok") done.set(asked.value, answer);
    const lost = !answer || (!told && random() < loss);
    const shown = answer && !lost ? { ...answer, item: asked.item ?? answer.item, text: JSON.stringify(answer) } : undefined;
    history.push({ ...timed, ...(shown ?? { outcome: "unknown" satisfies Outcome }) });
    if (told) call({ kind: "read", item: KEPT }, 4, 0); // a lie that nobody can see is none
  }

  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!;
  for (let n = 0; n < 3; n++) call({ kind: "create", value: `first ${n}` }, 4, 0);
  for (let n = 0; n < size; n++) {
    const item = pick([KEPT, ...items.keys()]);
    const kind = pick<Kind>(["read", "read", "read", "put", "patch", "patch", "patch", "delete", "create"]);
    if (kind === "read" || (kind === "delete" && item === KEPT)) {
      call({ kind: "read", item });
      continue;
    }
    const again = history.filter((one) => one.value !== undefined && (one.outcome === "ok" || one.outcome === "unknown"));
    if (random() < 0.2) {
      const { kind: same, value, ifMatch, item: its } = pick(again);
      call({ kind: same, value, ifMatch, item: same === "create" ? undefined : its });
      continue;
    }
    const ifMatch = random() < 0.3 ? items.get(item)!.contents.length - Math.floor(random() * 2) : undefined;
    call({ kind, value: `value ${n}`, ...(kind === "create" ? {} : { item, ifMatch }) });
  }
  moment += 100;
  for (const item of items.keys()) call({ kind: "read", item }, 4, 0);
  return { history, lied };
}
