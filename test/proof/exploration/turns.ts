import { vi } from "vitest";
import { isLong } from "../../support/runs.ts";

/** Runs concurrent code in every order of its awaits, one run after the other. */

export interface Turns {
  /** Resolves when it is this await's turn. */
  wait(what: string): Promise<void>;
  /** One of the numbers 0 to `count` − 1: each of them in some run. */
  choose(count: number): number;
}

/** The awaits whose orders are explored. In: those of every run, and those that only the long run adds. */
export const awaitsOf = (always: readonly string[], long: readonly string[]): readonly string[] =>
  isLong ? [...always, ...long] : always;

/**
 * Microtasks after which everything that does not wait for a turn has come to an end. With 28 some scenarios fail; with 40, 60 and
 * 120 the number of orders is the same.
 */
const MICROTASKS = 40;

/**
 * Runs a function until it has had every order of its turns and every choice. A depth-first search: each run changes the
 * last choice that has an alternative left. The function must depend on its turns alone. Out: the number of runs. In:
 * `enough` says after a run whether the others may be left out.
 */
export async function everyOrder(run: (turns: Turns) => Promise<void>, enough = () => false): Promise<number> {
  // The service reports every fault, and vitest would send each of these many thousand reports to its main process.
  const reports = vi.spyOn(console, "warn").mockReturnValue();
  try {
    return await allOrders(run, enough);
  } finally {
    reports.mockRestore();
  }
}

async function allOrders(run: (turns: Turns) => Promise<void>, enough: () => boolean): Promise<number> {
  const path: { taken: number; of: number }[] = [];
  for (let runs = 1; ; runs++) {
    await oneOrder(run, path);
    while (path.length > 0 && path.at(-1)!.taken === path.at(-1)!.of - 1) path.pop();
    const last = path.at(-1);
    if (!last || enough()) return runs;
    last.taken++;
  }
}

async function oneOrder(run: (turns: Turns) => Promise<void>, path: { taken: number; of: number }[]): Promise<void> {
  const waiting: (() => void)[] = [];
  let step = 0;
  const choose = (of: number): number => {
    path[step] ??= { taken: 0, of };
    return path[step++]!.taken;
  };
  const state = { over: false };
  const result = run({ wait: () => new Promise((resolve) => waiting.push(resolve)), choose }).finally(() => (state.over = true));
  for (;;) {
    for (let microtask = 0; microtask < MICROTASKS; microtask++) await Promise.resolve();
    if (state.over) return result;
    if (waiting.length === 0) throw new Error("no await has a turn left, and the run is not over");
    waiting.splice(choose(waiting.length), 1)[0]!();
  }
}
