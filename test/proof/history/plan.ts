import { vi } from "vitest";
import { type Hooks, seeded, sleep, wrapDatabase } from "../../support/bindings.ts";
import { unhurried } from "../../support/hammer.ts";

/**
 * What is to go wrong, and when: decided by a seed alone. Each client and each coordinator has dice of its own and throws
 * them equally often in each call, so the n-th call of one meets the same fault whatever the others do.
 */

/** How often, of all D1 calls or of all questions to a coordinator: 0 to 1. */
export interface Rates {
  /** D1 throws before the batch; after it; says that it is overloaded; executes it when the service has given up. */
  readonly before: number;
  readonly after: number;
  readonly overloaded: number;
  readonly late: number;
  /** R2 throws, before or after it did what it was asked; R2 gives less than there is. */
  readonly bucket: number;
  readonly less: number;
  /** The coordinator is aborted around a D1 call of its own; is evicted; is reset before or after it was asked. */
  readonly abort: number;
  readonly evict: number;
  readonly reset: number;
}

export const ROUGH: Rates = {
  before: 0.05,
  after: 0.05,
  overloaded: 0.01,
  late: 0.01,
  bucket: 0.15,
  less: 0.2,
  abort: 0.02,
  evict: 0.005,
  reset: 0.01,
};

export type Fault =
  | "D1 failed before the batch"
  | "D1 failed after the batch"
  | "D1 overloaded"
  | "D1 late"
  | "R2 failed before it acted"
  | "R2 failed after it acted"
  | "R2 gave less"
  | "coordinator aborted during a D1 call"
  | "coordinator aborted after a D1 call"
  | "coordinator evicted"
  | "coordinator reset before a write"
  | "coordinator reset after a write"
  | "coordinator overloaded"
  | "token revoked";

export interface Plan {
  readonly rates: Rates;
  readonly counts: ReadonlyMap<Fault, number>;
  /** The dice of that name. */
  readonly dice: (name: string) => () => number;
  readonly count: (fault: Fault) => void;
}

export function createPlan(seed: number, rates: Rates): Plan {
  const counts = new Map<Fault, number>();
  const dice = new Map<string, () => number>();
  return {
    rates,
    counts,
    dice: (name) => dice.getOrInsertComputed(name, () => seeded(hash(`${seed} ${name}`))),
    count: (fault) => void counts.set(fault, (counts.get(fault) ?? 0) + 1),
  };
}

/** FNV-1a. */
const hash = (text: string): number =>
  [...text].reduce((state, character) => Math.imul(state ^ character.charCodeAt(0), 0x01000193), 0x811c9dc5);

/** Throws the dice: each fault with its rate, or none. */
export function draw(random: () => number, ...faults: readonly (readonly [Fault, number])[]): Fault | undefined {
  let left = random();
  return faults.find(([, rate]) => (left -= rate) < 0)?.[0];
}

/** The service gives D1 10 seconds (src/store/database.ts). So long no test can wait: for a call that is to be late, it is this. */
const DEADLINE = 10_000;
const SHORT_DEADLINE = 20;
let late = false;

/** Until `vi.unstubAllGlobals()`. */
export function shortenDeadlines(): void {
  const real = globalThis.setTimeout;
  vi.stubGlobal("setTimeout", (run: () => void, delay?: number) => {
    if (!late || delay !== DEADLINE) return real(run, delay);
    late = false;
    return real(run, SHORT_DEADLINE);
  });
}

interface Owner {
  readonly name: string;
  readonly rewrite?: Hooks["rewrite"];
  /** Aborts it, in its next turn. */
  readonly abort?: () => Promise<never>;
}

/** D1 as somebody has it who makes one call after the other: slow, and faulty as planned. */
export function faultyDatabase(plan: Plan, { name, rewrite, abort }: Owner): D1Database {
  const { rates, count } = plan;
  const random = plan.dice(`the D1 calls of ${name}`);
  const aborts = abort ? rates.abort / 2 : 0;
  const next: { before?: Fault | undefined; after?: Fault | undefined; lateness: number } = { lateness: 0 };

  const slow = unhurried(plan.dice(`the waits of ${name}`), {
    rewrite,
    async before() {
      const { before: fault, lateness } = next;
      if (fault) count(fault);
      if (fault === "D1 failed before the batch") throw new Error("D1_ERROR: Network connection lost.");
      if (fault === "D1 overloaded") throw new Error("D1_ERROR: D1 DB is overloaded. Requests queued for too long.");
      if (fault === "D1 late") await sleep(lateness);
      if (fault === "coordinator aborted during a D1 call") void abort!();
    },
    async after() {
      const { after: fault } = next;
      if (fault) count(fault);
      if (fault === "D1 failed after the batch") throw new Error("D1_ERROR: Network connection lost.");
      if (fault === "coordinator aborted after a D1 call") await abort!();
    },
  });
  // Drawn at once when the call is made: the service sets its deadline next.
  const decide = () => {
    next.before = draw(
      random,
      ["D1 failed before the batch", rates.before],
      ["D1 overloaded", rates.overloaded],
      ["D1 late", rates.late],
      ["coordinator aborted during a D1 call", aborts],
    );
    next.after = draw(random, ["D1 failed after the batch", rates.after], ["coordinator aborted after a D1 call", aborts]);
    next.lateness = SHORT_DEADLINE * (1 + 3 * random());
    late = next.before === "D1 late";
  };
  return wrapDatabase(slow, { before: decide });
}
