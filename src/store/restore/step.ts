import type { Position } from "../../model/restore.ts";
import type { Finding } from "../../model/finding.ts";
import type { Begun } from "./begin.ts";

/** A restore that has begun, for one step. */
export interface Step extends Begun {
  readonly budget: Budget;
  /** The position in D1. Steps that only read do not move it. */
  readonly saved: Position;
}

/** The result of a step. */
export interface Stepped {
  readonly position: Position;
  readonly saved: Position;
  /** The rows and contents that do not open. */
  readonly findings?: readonly Finding[] | undefined;
}

/** The budget that is left of a request. */
export interface Budget {
  /** Counts calls. */
  readonly spend: (d1: number, r2: number) => void;
  readonly isSpent: () => boolean;
}

/** On the free plan an invocation makes at most 50 calls of D1. A call of R2 is cheaper; contents take time. */
const REQUEST_MAX = { d1Calls: 36, r2Calls: 200, milliseconds: 5_000 };

export function newBudget(clock: () => number): Budget {
  const used = { d1: 0, r2: 0 };
  const until = clock() + REQUEST_MAX.milliseconds;
  return {
    spend(d1, r2) {
      used.d1 += d1;
      used.r2 += r2;
    },
    isSpent: () => used.d1 >= REQUEST_MAX.d1Calls || used.r2 >= REQUEST_MAX.r2Calls || clock() >= until,
  };
}
