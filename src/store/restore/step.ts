import type { Position } from "../../model/restore.ts";
import type { Finding } from "../../model/finding.ts";
import type { Begun } from "./begin.ts";
import type { Budget } from "./ports.ts";

/** A restore at a step. */
export interface Step extends Begun {
  readonly budget: Budget;
  /** The position that D1 has: steps that only read do not move it. */
  readonly saved: Position;
}

/** What a step has done. */
export interface Stepped {
  readonly position: Position;
  readonly saved: Position;
  /** What it has found that does not open. */
  readonly findings?: readonly Finding[] | undefined;
}
