import { LIMITS } from "../../model/limits.ts";
import { SECOND } from "../../model/time.ts";

/** The states of each database that this isolate knows. */

/** A state of the database: a replica that has reached its bookmark has every write that was acknowledged before `at`. */
export interface DatabaseState {
  /** A bookmark of D1. Bookmarks sort as texts. */
  readonly bookmark: string;
  /** When this isolate asked for it: Unix milliseconds. */
  readonly at: number;
}

interface KnownStates {
  /** Later ones have later bookmarks. */
  readonly states: readonly DatabaseState[];
  /** The latest time at which this isolate has looked: Unix milliseconds. */
  readonly seenAt: number;
}

const known = new WeakMap<D1Database, KnownStates>();

/** Milliseconds between two states that are kept, besides the latest one. */
const SPACING_MS = SECOND;

/** The states of a database that a read may need. All are forgotten when the clock has gone back, because their ages are unknown then. */
export function knownStates(db: D1Database, now: number): readonly DatabaseState[] {
  const { states, seenAt } = known.get(db) ?? { states: [], seenAt: 0 };
  const recent = now < seenAt ? [] : states.filter(({ at }) => at >= now - LIMITS.stale * SECOND);
  known.set(db, { states: recent, seenAt: now });
  return recent;
}

/** Records a state of the primary. After a restore bookmarks may go back: then the states of before are forgotten. */
export function recordState(db: D1Database, state: DatabaseState, now: number): void {
  const states = knownStates(db, now);
  const [previous, last] = [states.at(-2), states.at(-1)];
  if (state.at > now || (last && state.at < last.at)) return;
  const isDense = previous && last && last.at - previous.at < SPACING_MS;
  const kept = last && state.bookmark < last.bookmark ? [] : isDense ? states.slice(0, -1) : states;
  known.set(db, { states: [...kept, state], seenAt: now });
}
