import { AsyncLocalStorage } from "node:async_hooks";

/** What an isolate or a coordinator does: its clock, and what its calls of D1 have met. */

/** The clock of an isolate or a coordinator. It differs from the true time, which is that of the simulator, and may jump. */
export interface LocalClock {
  /** Milliseconds by which it is ahead of the true time. */
  ahead: number;
  /** Its jumps: the true time of each, in Unix milliseconds, and by how many milliseconds it went forward. */
  readonly jumps: { readonly time: number; readonly by: number }[];
}

export const trueClock = (): LocalClock => ({ ahead: 0, jumps: [] });

/** One request that an isolate serves, or all that a coordinator does. */
export interface Serving {
  readonly clock: LocalClock;
  /** What the calls of the primary have met for whose answers it waits: `stall`, or the names of faults. */
  readonly troubles: Set<string>;
  /** How many of its calls a replica has answered. */
  fromReplicas: number;
}

export const startServing = (clock: LocalClock): Serving => ({ clock, troubles: new Set(), fromReplicas: 0 });

const servings = new AsyncLocalStorage<Serving | undefined>();

/** What the code is part of that calls this; `undefined`: of the simulator, or of what has the true time. */
export const currentServing = (): Serving | undefined => servings.getStore();

/** Runs a function as part of something, with all that it awaits and its timers. */
export const serveIn = <T>(serving: Serving | undefined, run: () => T): T => servings.run(serving, run);

/** Keeps for a callback what it is part of. */
export const keepServing = (run: () => void): (() => void) => (servings.getStore() ? AsyncLocalStorage.bind(run) : run);
