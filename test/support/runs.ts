import { env } from "cloudflare:workers";

/** How often a property is tried: a little in `npm test`, at length in `npm run fuzz` (LONG_RUN=1, which vitest.config.ts hands on). */

const { LONG_RUN } = env as { LONG_RUN?: string };

/** Whether this is the long run. */
export const isLong = LONG_RUN === "1";

/** The number of cases. In: that of the short run; that of the long one, where it is not the usual. */
export const runs = (short: number, long = 20_000): number => (isLong ? long : short);
