/** How many D1 calls an invocation of the Worker may still make: Cloudflare refuses others. */

/** The D1 calls of one invocation on the free plan. */
export const INVOCATION_CALLS_MAX = 50;

/** Takes calls. In: how many. Out: `false` when fewer are left; then it takes none. */
export type Take = (calls: number) => boolean;

/** Calls that several tasks share: each takes those of its next step, so none of them uses up what the others need for theirs. */
export function shareCalls(most: number): Take {
  let left = most;
  return (calls) => {
    if (calls > left) return false;
    left -= calls;
    return true;
  };
}
