import { TURN_DAYS } from "../../vitest.days.ts";

/**
 * A part of a long list of cases, for `npm test`. SAMPLE in vitest.config.ts is the number of the day, so that all cases run within
 * some days. `npm test` prints SAMPLE at its end; `SAMPLE=20779 npm test` repeats the run.
 */

/**
 * Every `n`-th case, from the next place on each day, and whenever a file that does not run on each day runs again (vitest.days.ts). Lists that are shorter
 * than `n` keep one case. In: the number of the day.
 */
export function every<T>(n: number, cases: readonly T[], day: number): T[] {
  const step = Math.max(1, Math.min(n, cases.length));
  return cases.filter((_, index) => index % step === ((day % TURN_DAYS) + Math.floor(day / TURN_DAYS)) % step);
}

/**
 * The same of a list that `npm run test:all` has time for: there, and in the long runs, all cases. In: the variables of vitest.config.ts, of
 * which SAMPLE is the number of the day.
 */
export const everyInShortRuns = <T>(
  n: number,
  cases: readonly T[],
  { LONG_RUN, ALL, SAMPLE }: Readonly<Record<string, string | undefined>>,
): T[] => (LONG_RUN === "1" || ALL === "1" ? [...cases] : every(n, cases, Number(SAMPLE)));
