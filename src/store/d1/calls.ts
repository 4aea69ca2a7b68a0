/** Counts the D1 calls left to an invocation of the Worker. Cloudflare refuses further calls. */

/** The D1 calls of one invocation on the free plan. */
export const INVOCATION_CALLS_MAX = 50;

/** Takes a number of calls. Returns false, and takes none, if fewer are left. */
export type Take = (calls: number) => boolean;

/** Returns calls shared by several tasks. Each task takes the calls of its next step, so no task starves another. */
export function shareCalls(most: number): Take {
  let left = most;
  return (calls) => {
    if (calls > left) return false;
    left -= calls;
    return true;
  };
}
