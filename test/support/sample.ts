/**
 * A part of a long list of cases, for `npm test`. It begins at another place on each day (SAMPLE in vitest.config.ts), so that all cases run
 * within a few days. `npm test` prints SAMPLE at its end; `SAMPLE=20779 npm test` repeats the run.
 */

/** Every `n`-th case, from the place `start` modulo `n` on. Lists that are shorter than `n` keep one case. */
export function every<T>(n: number, cases: readonly T[], start: number): T[] {
  const step = Math.max(1, Math.min(n, cases.length));
  return cases.filter((_, index) => index % step === start % step);
}
