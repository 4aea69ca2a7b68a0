import { vi } from "vitest";

/** The options of `vi.waitFor` for what takes milliseconds, and seconds on a machine under load. */
export const UNDER_LOAD = { timeout: 15_000, interval: 20 };

/** The deadline of a D1 call in ms (src/store/deadline.ts). Its timer keeps its real length. */
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
