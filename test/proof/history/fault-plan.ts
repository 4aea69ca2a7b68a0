import { vi } from "vitest";
import { type Hooks, seeded, sleep, wrapDatabase } from "../../support/bindings.ts";
import { delayedDatabase } from "../../support/concurrent-patches.ts";

/**
 * The plan of injected faults, which a seed determines. Each client and each coordinator has a random sequence of its own and
 * draws equally many numbers in each call, so the n-th call of one gets the same fault whatever the others do.
 */

/** The probability of each fault, 0 to 1, per call of D1, R2 or a coordinator. */
export interface FaultRates {
  /**
   * D1 throws before the batch; D1 throws after the batch; D1 is overloaded; D1 has no room for a batch of a coordinator; D1
   * executes the batch after the deadline.
   */
  readonly before: number;
  readonly after: number;
  readonly overloaded: number;
  readonly full: number;
  readonly late: number;
  /** R2 throws before or after the call takes effect; R2 returns a truncated object. */
  readonly r2: number;
  readonly r2Truncated: number;
  /** The coordinator is aborted during or after one of its D1 calls; is evicted; is reset before or after a write. */
  readonly abort: number;
  readonly evict: number;
  readonly reset: number;
  /** The coordinator is evicted between two steps of an upload. */
  readonly evictUpload: number;
  /** An operation is one that the coordinator must refuse (poisoned-operations.ts): of each kind. */
  readonly poisoned: number;
}

export const FAULT_RATES: FaultRates = {
  before: 0.05,
  after: 0.05,
  overloaded: 0.01,
  full: 0.005,
  late: 0.01,
  r2: 0.15,
  r2Truncated: 0.2,
  abort: 0.02,
  evict: 0.005,
  reset: 0.01,
  evictUpload: 0.03,
  poisoned: 0.005,
};

export type Fault =
  | "D1 failed before the batch"
  | "D1 failed after the batch"
  | "D1 overloaded"
  | "D1 full"
  | "D1 late"
  | "R2 failed before the call"
  | "R2 failed after the call"
  | "R2 truncated an object"
  | "coordinator aborted during a D1 call"
  | "coordinator aborted after a D1 call"
  | "coordinator evicted"
  | "coordinator evicted between record and content"
  | "coordinator evicted between content and commit"
  | "coordinator reset before a write"
  | "coordinator reset after a write"
  | "coordinator overloaded"
  | Poison
  | "token revoked"
  | "large Item";

/** Why a coordinator must refuse an operation. */
export type Poison = "operation throws" | "rows refused" | "unknown format" | "unknown kind";

/** The words of D1's errors, as src/store/d1/database.ts tells them apart. */
const LOST = [
  "Network connection lost.",
  "D1 DB storage operation exceeded timeout which caused object to be reset.",
  "Internal error in D1 DB storage caused object to be reset.",
  "D1 DB reset because its code was updated.",
  "D1 DB's isolate exceeded its memory limit and was reset.",
];
const WORDS: { readonly [F in Fault]?: readonly string[] } = {
  "D1 failed before the batch": [
    ...LOST,
    "Internal error while starting up D1 DB storage caused object to be reset.",
    "Cannot resolve D1 DB due to transient issue on remote node.",
  ],
  "D1 failed after the batch": LOST,
  "D1 overloaded": [
    "D1 DB is overloaded. Requests queued for too long.",
    "D1 DB is overloaded. Too many requests queued.",
    "Your account has exceeded D1's free tier daily row write limit. Upgrade to a paid plan or wait until tomorrow",
  ],
  "D1 full": ["Exceeded maximum DB size", "Exceeded maximum account storage limit", "database or disk is full: SQLITE_FULL"],
};

export interface FaultPlan {
  readonly rates: FaultRates;
  readonly counts: ReadonlyMap<Fault, number>;
  /** The ids of the operations that were poisoned. */
  readonly poisoned: Set<string>;
  /** The random sequence of that name: numbers from 0 to 1. */
  readonly randomFor: (name: string) => () => number;
  readonly countFault: (fault: Fault) => void;
}

export function createFaultPlan(seed: number, rates: FaultRates): FaultPlan {
  const counts = new Map<Fault, number>();
  const sequences = new Map<string, () => number>();
  return {
    rates,
    counts,
    poisoned: new Set(),
    randomFor: (name) => sequences.getOrInsertComputed(name, () => seeded(hash(`${seed} ${name}`))),
    countFault: (fault) => void counts.set(fault, (counts.get(fault) ?? 0) + 1),
  };
}

/** The hash FNV-1a with 32 bits. */
const hash = (text: string): number =>
  [...text].reduce((state, character) => Math.imul(state ^ character.charCodeAt(0), 0x01000193), 0x811c9dc5);

/** Draws each fault with its probability, or none. */
export function drawFault(random: () => number, ...faults: readonly (readonly [Fault, number])[]): Fault | undefined {
  let left = random();
  return faults.find(([, rate]) => (left -= rate) < 0)?.[0];
}

/**
 * The deadline of a D1 call in ms (src/store/d1/database.ts), and the shorter one for calls that the plan delays, so that tests
 * need not wait.
 */
const DEADLINE = 10_000;
const SHORT_DEADLINE = 20;
let nextIsLate = false;

/** Shortens the deadline of the delayed D1 calls until `vi.unstubAllGlobals()`. */
export function shortenDeadlines(): void {
  const real = globalThis.setTimeout;
  vi.stubGlobal("setTimeout", (run: () => void, delay?: number) => {
    if (!nextIsLate || delay !== DEADLINE) return real(run, delay);
    nextIsLate = false;
    return real(run, SHORT_DEADLINE);
  });
}

/** Throws an error in the words of D1, if the fault is one. In: a number from 0 to 1 that chooses the words. */
function throwWords(fault: Fault | undefined, random: number): void {
  const words = fault && WORDS[fault];
  if (words) throw new Error(`D1_ERROR: ${words[Math.floor(random * words.length)]}`);
}

interface Owner {
  readonly name: string;
  readonly rewrite?: Hooks["rewrite"];
  /** Aborts the owner in its next task. */
  readonly abort?: () => Promise<never>;
}

/** D1 for an owner that makes one call after the other, with random waits and the faults of the plan. */
export function faultyDatabase(plan: FaultPlan, { name, rewrite, abort }: Owner): D1Database {
  const { rates, countFault } = plan;
  const random = plan.randomFor(`the D1 calls of ${name}`);
  const aborts = abort ? rates.abort / 2 : 0;
  const planned: { before?: Fault | undefined; after?: Fault | undefined; lateness: number; words: number } = {
    lateness: 0,
    words: 0,
  };

  const slow = delayedDatabase(plan.randomFor(`the waits of ${name}`), {
    rewrite,
    async before() {
      const { before: fault, lateness, words } = planned;
      if (fault) countFault(fault);
      throwWords(fault, words);
      if (fault === "D1 late") await sleep(lateness);
      if (fault === "coordinator aborted during a D1 call") void abort!();
    },
    async after() {
      const { after: fault, words } = planned;
      if (fault) countFault(fault);
      throwWords(fault, words);
      if (fault === "coordinator aborted after a D1 call") await abort!();
    },
  });
  // Draws the faults when the call is made, because the service sets the deadline right after that.
  const drawFaults = () => {
    planned.before = drawFault(
      random,
      ["D1 failed before the batch", rates.before],
      ["D1 overloaded", rates.overloaded],
      ["D1 full", abort ? rates.full : 0],
      ["D1 late", rates.late],
      ["coordinator aborted during a D1 call", aborts],
    );
    planned.after = drawFault(
      random,
      ["D1 failed after the batch", rates.after],
      ["coordinator aborted after a D1 call", aborts],
    );
    planned.lateness = SHORT_DEADLINE * (1 + 3 * random());
    planned.words = random();
    nextIsLate = planned.before === "D1 late";
  };
  return wrapDatabase(slow, { before: drawFaults });
}
