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
