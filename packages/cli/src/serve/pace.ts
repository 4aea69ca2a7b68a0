import { setTimeout as sleep } from "node:timers/promises";

/** Limits the reads with which the copy is filled. All vaults share one pace, because the rate limit of the service is one of the token. */
export interface Pace {
  /** Runs a read in its turn. Throws as the read does. */
  readonly inTurn: <T>(read: () => Promise<T>) => Promise<T>;
}

/** Creates a pace. `concurrent` reads run at once, and at most `perSecond` begin in a second. */
export function createPace({ concurrent, perSecond }: { readonly concurrent: number; readonly perSecond: number }): Pace {
  let running = 0;
  let next = 0;
  const waiting: (() => void)[] = [];
  const begin = async () => {
    if (running >= concurrent) await new Promise<void>((resolve) => void waiting.push(resolve));
    else running++;
    const now = performance.now();
    const start = Math.max(now, next);
    next = start + 1000 / perSecond;
    if (start > now) await sleep(start - now);
  };
  /** Gives the place to the read that has waited longest. */
  const end = () => {
    const resume = waiting.shift();
    if (resume) resume();
    else running--;
  };
  return {
    async inTurn(read) {
      await begin();
      return read().finally(end);
    },
  };
}
