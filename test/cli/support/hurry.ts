import { syncBuiltinESMExports } from "node:module";
import timers from "node:timers/promises";
import { onTestFinished, vi } from "vitest";

/** Time runs so many times faster for timers: the waits of the command line are those of its users. */
const FASTER = 200;

/** Lets the timers of this process end early until the end of the test. */
export function hurryTime(): void {
  const start = globalThis.setTimeout;
  const faster = (run: (...args: unknown[]) => void, milliseconds = 0, ...args: unknown[]) =>
    start(run, milliseconds / FASTER, ...args);
  const spy = vi.spyOn(globalThis, "setTimeout").mockImplementation(faster as typeof setTimeout);
  onTestFinished(() => spy.mockRestore());
}

/** Ends each `sleep` of node:timers/promises at once until the end of the test. Returns the milliseconds of each, in their order. */
export function recordSleeps(): number[] {
  const delays: number[] = [];
  const { setTimeout: sleep } = timers;
  replaceSleep((delay = 0, ...rest) => {
    delays.push(delay);
    return sleep(0, ...rest);
  });
  onTestFinished(() => replaceSleep(sleep));
  return delays;
}

function replaceSleep(sleep: typeof timers.setTimeout): void {
  timers.setTimeout = sleep;
  syncBuiltinESMExports();
}
