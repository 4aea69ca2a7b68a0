/** The rate limits of wrangler.toml, counted in memory: a restart resets them. */

export interface RateLimitSettings {
  readonly limit: number;
  /** Seconds. */
  readonly period: number;
}

/**
 * The maximum number of counted keys in one period. Further keys are refused, so that an unlimited number of addresses cannot fill the
 * memory.
 */
const KEYS_MAX = 100_000;

export function createRateLimit({ limit, period }: RateLimitSettings): RateLimit {
  let counts = new Map<string, number>();
  let current = 0;
  return {
    async limit({ key }) {
      const now = Math.floor(Date.now() / (period * 1_000));
      if (now !== current) [current, counts] = [now, new Map()];
      const count = (counts.get(key) ?? 0) + 1;
      if (count === 1 && counts.size >= KEYS_MAX) return { success: false };
      counts.set(key, count);
      return { success: count <= limit };
    },
  };
}
