/** What runs at once runs in some order: here all of them, one after the other. */

export interface Turns {
  /** Waits for its turn. */
  wait(what: string): Promise<void>;
  /** One of the numbers 0 to `count` − 1: in some run, each. */
  choose(count: number): number;
}

/** Long enough for whatever does not wait for its turn to come to an end. */
const MICROTASKS = 40;

/**
 * Runs something until it has had every order of its turns, and every choice (a depth-first walk: each run takes the
 * last choice that has an alternative otherwise). What it does must follow from its turns alone. Out: how many runs.
 */
export async function everyOrder(run: (turns: Turns) => Promise<void>): Promise<number> {
  const path: { taken: number; of: number }[] = [];
  for (let runs = 1; ; runs++) {
    await oneOrder(run, path);
    while (path.length > 0 && path.at(-1)!.taken === path.at(-1)!.of - 1) path.pop();
    const last = path.at(-1);
    if (!last) return runs;
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
    if (waiting.length === 0) throw new Error("nobody waits, and it is not over");
    waiting.splice(choose(waiting.length), 1)[0]!();
  }
}
