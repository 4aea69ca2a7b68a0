import { LIMITS } from "../../model/limits.ts";
import { SECOND } from "../../model/time.ts";

/** The states of each database that this isolate knows. */

/** A state of the database: a replica that has reached its bookmark has every write that was acknowledged before `at`. */
export interface DatabaseState {
  /** A bookmark of D1. Bookmarks sort as texts. */
  readonly bookmark: string;
  /** Time at which this isolate asked for it, in Unix milliseconds. */
  readonly at: number;
}

/** The states of a database known to the isolate. A call that begins now can report a later state. */
export interface KnownStates {
  /** The states that a read may need. Later states have later bookmarks. */
  readonly states: readonly DatabaseState[];
  /** Time of this isolate's last look, in Unix milliseconds. */
  readonly seenAt: number;
  /** Number of times that the clock has gone back. */
  readonly turns: number;
}

const known = new WeakMap<D1Database, KnownStates>();

/** Milliseconds between two states that are kept, besides the latest one. */
const SPACING_MS = SECOND;

/** Returns the known states. If the clock has gone back, all states are forgotten, because their ages are unknown. */
export function lookAtStates(db: D1Database, now: number): KnownStates {
  const { states, seenAt, turns } = known.get(db) ?? { states: [], seenAt: 0, turns: 0 };
  const wentBack = now < seenAt;
  const recent = states.filter(({ at }) => !wentBack && at >= now - LIMITS.stale * SECOND);
  const seen = { states: recent, seenAt: now, turns: turns + Number(wentBack) };
  known.set(db, seen);
  return seen;
}

/**
 * Records a state of the primary, reported by a call. `known` was read when the call began. The age of the state is unknown if
 * the clock has gone back since. After a restore bookmarks may go back; earlier states are then forgotten.
 */
export function recordState(db: D1Database, bookmark: string, { seenAt: at, turns }: KnownStates, now: number): void {
  const { states, ...seen } = lookAtStates(db, now);
  const [previous, last] = [states.at(-2), states.at(-1)];
  if (turns !== seen.turns || (last && at < last.at)) return;
  const isDense = previous && last && last.at - previous.at < SPACING_MS;
  const kept = last && bookmark < last.bookmark ? [] : isDense ? states.slice(0, -1) : states;
  known.set(db, { ...seen, states: [...kept, { bookmark, at }] });
}
