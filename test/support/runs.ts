import { inject } from "vitest";

/** Sizes of the short run, `npm test`, and of the long runs (LONG_RUN=1: `npm run fuzz`, `npm run soak`). */

declare module "vitest" {
  interface ProvidedContext {
    readonly isLong: boolean;
  }
}

/** Whether this is a long run. */
export const isLong = inject("isLong");

/** Returns the number of cases of this run. The seed of a long run is another one each night, so the nights add up. */
export const runs = (short: number, long = 5_000): number => (isLong ? long : short);

/** Returns all cases in a long run, otherwise every `n`-th from the first on: the same on every day. */
export const sample = <T>(cases: readonly T[], n: number): T[] => cases.filter((_, index) => isLong || index % n === 0);
