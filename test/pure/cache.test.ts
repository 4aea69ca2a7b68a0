import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createCache } from "../../src/crypto/cache.ts";

/** A map that forgets: by age, and by number. */

describe("a cache", () => {
  it("gives what was set, until its time is over", () => {
    const cache = createCache<string>(10, 100);
    cache.set("a", "A", 1000);
    expect([cache.get("a", 1000), cache.get("a", 1099), cache.get("a", 1100)]).toEqual(["A", "A", undefined]);
  });

  it("gives nothing of another name", () => {
    const cache = createCache<string>(10, 100);
    cache.set("a", "A", 0);
    expect([cache.get("b", 0), cache.get("__proto__", 0), cache.get("", 0)]).toEqual([undefined, undefined, undefined]);
  });

  it("does not live longer by being read", () => {
    const cache = createCache<string>(10, 100);
    cache.set("a", "A", 0);
    for (let now = 0; now < 100; now += 10) cache.get("a", now);
    expect(cache.get("a", 100)).toBeUndefined();
  });

  it("lives anew when it is set again", () => {
    const cache = createCache<string>(10, 100);
    cache.set("a", "A", 0);
    cache.set("a", "B", 90);
    expect([cache.get("a", 150), cache.get("a", 190)]).toEqual(["B", undefined]);
  });

  it("forgets the one that was set first when it is full", () => {
    const cache = createCache<number>(3, 100);
    for (const [value, key] of ["a", "b", "c", "d"].entries()) cache.set(key, value, 0);
    expect(["a", "b", "c", "d"].map((key) => cache.get(key, 0))).toEqual([undefined, 1, 2, 3]);
  });

  it("counts the one that is set again as new, and forgets no other for it", () => {
    const cache = createCache<number>(3, 100);
    for (const [value, key] of ["a", "b", "c", "a", "d"].entries()) cache.set(key, value, 0);
    expect(["a", "b", "c", "d"].map((key) => cache.get(key, 0))).toEqual([3, undefined, 2, 4]);
  });

  it("holds no more than its limit, and what it gives is the last that was set", () => {
    const key = fc.constantFrom(..."abcdef");
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 4 }), fc.array(fc.tuple(key, fc.nat()), { maxLength: 30 }), (limit, sets) => {
        const cache = createCache<number>(limit, 100);
        for (const [name, value] of sets) cache.set(name, value, 0);
        const recent = new Set([...new Set(sets.toReversed().map(([name]) => name))].slice(0, limit));
        const last = new Map<string, number>(sets);
        for (const name of "abcdef") expect(cache.get(name, 0)).toBe(recent.has(name) ? last.get(name) : undefined);
      }),
    );
  });
});
