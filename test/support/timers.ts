import { vi } from "vitest";

/** The code that runs in Durable Objects too. The flush of the log is in none: it waits two seconds after the answer, in a Worker. */
const OBJECT_CODE = /\/src\/(?:vault|jobs|store(?!\/activity\/flush))\/\S+/;

/**
 * Watches the timers of this isolate, in which the Worker and its Durable Objects run. Out: where each timer was started that Durable Objects
 * have neither cleared nor received. Such a timer keeps an object in memory, and its duration is charged.
 */
export function watchTimers(): () => string[] {
  const pending = new Map<unknown, string>();
  const { setTimeout: start, clearTimeout: clear } = globalThis;
  vi.stubGlobal("setTimeout", (run: (...values: unknown[]) => void, delay?: number, ...values: unknown[]) => {
    const [origin] = OBJECT_CODE.exec(new Error("A timer").stack ?? "") ?? [];
    const timer = start(() => {
      pending.delete(timer);
      run(...values);
    }, delay);
    if (origin !== undefined) pending.set(timer, origin);
    return timer;
  });
  vi.stubGlobal("clearTimeout", (timer: Parameters<typeof clear>[0]) => {
    pending.delete(timer);
    clear(timer);
  });
  return () => [...pending.values()];
}
