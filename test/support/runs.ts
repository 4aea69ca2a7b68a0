import { env } from "cloudflare:workers";

/**
 * The number of cases per property: small in `npm test`, large in `npm run fuzz` (LONG_RUN=1, which vitest.config.ts passes
 * on).
 */

const { LONG_RUN } = env as { LONG_RUN?: string };

/** Whether this is the long run. */
export const isLong = LONG_RUN === "1";

/** The number of cases. In: the numbers of the short and of the long run. */
export const runs = (short: number, long = 20_000): number => (isLong ? long : short);
