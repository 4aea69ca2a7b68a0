import type { Turns } from "./turns.ts";

/**
 * What may go wrong at a step. A D1 call fails `before` its effect or `after` it, or takes effect `late`: after its
 * deadline. A coordinator is evicted before (`evict`) or after (`evict after`) its call takes effect. A Worker ends
 * (`crash`) in the middle of a request.
 */
export type Fault = "before" | "after" | "late" | "evict" | "evict after" | "crash";

export interface Faults {
  /** One of the possible faults, or none: each of them in some run, until no fault is left. */
  draw(possible: readonly Fault[]): Fault | undefined;
}

/** In: how many faults one run has at most, and the kinds of them. */
export function createFaults(turns: Turns, most: number, kinds: readonly Fault[]): Faults {
  let left = most;
  return {
    draw(possible) {
      const faults = left > 0 ? possible.filter((fault) => kinds.includes(fault)) : [];
      if (faults.length === 0) return undefined;
      const drawn = [undefined, ...faults][turns.choose(faults.length + 1)];
      if (drawn) left--;
      return drawn;
    },
  };
}

/** Rejects the calls of an evicted coordinator. A single error, because the service reads its stack each time. */
export const RESET = new Error("reset");

/** A step that never ends: the code that awaits it runs no further. */
export const never = <T>(): Promise<T> => new Promise<T>(() => undefined);
