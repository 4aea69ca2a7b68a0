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

/** A call that may tell a state: when it began, and how often the clock had gone back until then. */
export interface BegunCall {
  readonly at: number;
  readonly turns: number;
}

interface KnownStates {
  /** Later ones have later bookmarks. */
  readonly states: readonly DatabaseState[];
  /** The latest time at which this isolate has looked: Unix milliseconds. */
  readonly seenAt: number;
  /** How often the clock has gone back. */
  readonly turns: number;
}

const known = new WeakMap<D1Database, KnownStates>();

/** Milliseconds between two states that are kept, besides the latest one. */
const SPACING_MS = SECOND;

/** All states are forgotten when the clock has gone back, because their ages are unknown then. */
function look(db: D1Database, now: number): KnownStates {
  const { states, seenAt, turns } = known.get(db) ?? { states: [], seenAt: 0, turns: 0 };
  const wentBack = now < seenAt;
  const recent = wentBack ? [] : states.filter(({ at }) => at >= now - LIMITS.stale * SECOND);
  const seen = { states: recent, seenAt: now, turns: wentBack ? turns + 1 : turns };
  known.set(db, seen);
  return seen;
}

/** The states of a database that a read may need. */
export const knownStates = (db: D1Database, now: number): readonly DatabaseState[] => look(db, now).states;

export const beginCall = (db: D1Database, now: number): BegunCall => ({ at: now, turns: look(db, now).turns });

/**
 * Records a state of the primary, which a call has told. Its age is unknown when the clock has gone back since the call began. After a restore
 * bookmarks may go back: then the states of before are forgotten.
 */
export function recordState(db: D1Database, bookmark: string, { at, turns: before }: BegunCall, now: number): void {
  const { states, turns } = look(db, now);
  const [previous, last] = [states.at(-2), states.at(-1)];
  if (turns !== before || (last && at < last.at)) return;
  const isDense = previous && last && last.at - previous.at < SPACING_MS;
  const kept = last && bookmark < last.bookmark ? [] : isDense ? states.slice(0, -1) : states;
  known.set(db, { states: [...kept, { bookmark, at }], seenAt: now, turns });
}
