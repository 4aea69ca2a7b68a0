import type { Caller } from "@item-vault/client";

/** Spreads the requests of an import over time. */

/**
 * A little less than the service accepts of one token, about 2,000 in 10 seconds (contract 12.1). A request beyond that is refused, and has
 * to wait longer than one that comes in time.
 */
export const REQUESTS_PER_SECOND = 195;
/** Requests that may catch up after a pause. 10 seconds have at most 195 × 10 + 50 requests. */
const BURST_REQUESTS_MAX = 50;

/** Returns a function that wraps clients. All their requests together start at this rate at most, after a burst. */
export function createPace(perSecond = REQUESTS_PER_SECOND): (client: Caller) => Caller {
  const interval = 1000 / perSecond;
  let next = Number.NEGATIVE_INFINITY;
  const begin = async (): Promise<void> => {
    const now = performance.now();
    next = Math.max(next + interval, now - BURST_REQUESTS_MAX * interval);
    if (next > now) await new Promise((resolve) => setTimeout(resolve, next - now));
  };
  return (client) => ({
    call: async (operation, ...options) => {
      await begin();
      return await client.call(operation, ...options);
    },
  });
}
