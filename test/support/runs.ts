import { env } from "cloudflare:workers";
import { every, everyInShortRuns } from "./sample.ts";

/**
 * The number of cases per property: small in `npm test`, large in `npm run fuzz` (LONG_RUN=1, which vitest.config.ts passes
 * on).
 */

const VARIABLES = env as { LONG_RUN?: string; ALL?: string; SAMPLE?: string };

/** Whether this is the long run. */
export const isLong = VARIABLES.LONG_RUN === "1";

/** The number of cases. In: the numbers of the short and of the long run. */
export const runs = (short: number, long = 20_000): number => (isLong ? long : short);

/** All cases in the long run; in the short run every `n`-th of them, others on each day. */
export const sample = <T>(cases: readonly T[], n: number): T[] =>
  isLong ? [...cases] : every(n, cases, Number(VARIABLES.SAMPLE));

/** The same of a list of which `npm run test:all` has all cases too. */
export const sampleInShortRuns = <T>(cases: readonly T[], n: number): T[] => everyInShortRuns(n, cases, VARIABLES);
