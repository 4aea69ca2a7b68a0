import { vi } from "vitest";

/** Options of `vi.waitFor` for an event that takes milliseconds, and on a machine under load minutes: the time-out catches only hangs. */
export const UNDER_LOAD = { timeout: 120_000, interval: 20 };

/** The same for what a request finds after the queue of the log has delivered it, which takes a quarter of a second: each try costs. */
export const QUEUED = { timeout: UNDER_LOAD.timeout, interval: 100 };

const { setTimeout: realTimeout } = globalThis;

/** Waits for a real time, also while the timers of the test are not real. In: milliseconds. */
export const realSleep = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => void realTimeout(resolve, milliseconds));

/** Resolves when the condition holds. In contrast to `vi.waitFor`, it never moves the timers of the test. */
export async function until(holds: () => boolean): Promise<void> {
  for (const began = performance.now(); !holds(); await realSleep(2)) {
    if (performance.now() - began > UNDER_LOAD.timeout)
      throw new Error(`Not within ${UNDER_LOAD.timeout / 1000} s: ${String(holds)}`);
  }
}

/** The deadline of a D1 call in ms (src/store/d1/database.ts). Its timer keeps its real length. */
const DEADLINE = 10_000;

/**
 * Skips every wait of this isolate: a timer fires at once, and the clock moves forward by its delay. So the commit loop gives
 * up after seconds of its own clock, and a test does not wait for it. Ends with `restoreWaits()`.
 */
export function skipWaits(): void {
  const { setTimeout: timeout } = globalThis;
  const now = Date.now.bind(Date);
  let skipped = 0;
  vi.stubGlobal("setTimeout", (run: () => void, delay = 0) => {
    if (delay === DEADLINE) return timeout(run, delay);
    skipped += delay;
    return timeout(run, 0);
  });
  vi.spyOn(Date, "now").mockImplementation(() => now() + Math.round(skipped));
}

/** Ends `skipWaits`, and restores everything else that a test has stubbed or mocked. */
export function restoreWaits(): void {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
}
