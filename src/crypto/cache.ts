/**
 * A cache of at most `limit` entries, each for at most `ttl` milliseconds. It holds key objects and verified signatures,
 * which are costly to compute, and counts. It never holds anything that was decrypted.
 */
export interface Cache<V> {
  get(key: string, now: number): V | undefined;
  set(key: string, value: V, now: number): void;
}

export function createCache<V>(limit: number, ttl: number): Cache<V> {
  const entries = new Map<string, { value: V; until: number }>();
  return {
    get(key, now) {
      const entry = entries.get(key);
      if (entry && now < entry.until) return entry.value;
      entries.delete(key);
      return undefined;
    },
    set(key, value, now) {
      entries.delete(key);
      // A Map keeps insertion order, which is the order of expiry.
      for (const [oldest, { until }] of entries) {
        if (until > now && entries.size < limit) break;
        entries.delete(oldest);
      }
      entries.set(key, { value, until: now + ttl });
    },
  };
}
