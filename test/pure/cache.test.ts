import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createCache } from "../../src/crypto/cache.ts";

/** src/crypto/cache.ts: a map with a limit on the age and on the number of its entries. */

describe("a cache", () => {
  it("returns an entry until its time to live has passed", () => {
    const cache = createCache<string>(10, 100);
    cache.set("a", "A", 1000);
    expect([cache.get("a", 1000), cache.get("a", 1099), cache.get("a", 1100)]).toEqual(["A", "A", undefined]);
  });

  it("returns undefined for a key that was not set", () => {
    const cache = createCache<string>(10, 100);
    cache.set("a", "A", 0);
    expect([cache.get("b", 0), cache.get("__proto__", 0), cache.get("", 0)]).toEqual([undefined, undefined, undefined]);
  });

  it("does not extend the life of an entry that is read", () => {
    const cache = createCache<string>(10, 100);
    cache.set("a", "A", 0);
    for (let now = 0; now < 100; now += 10) cache.get("a", now);
    expect(cache.get("a", 100)).toBeUndefined();
  });

  it("starts the time to live again when a key is set again", () => {
    const cache = createCache<string>(10, 100);
    cache.set("a", "A", 0);
    cache.set("a", "B", 90);
    expect([cache.get("a", 150), cache.get("a", 190)]).toEqual(["B", undefined]);
  });

  it("removes the entry that was set first when it is full", () => {
    const cache = createCache<number>(3, 100);
    for (const [value, key] of ["a", "b", "c", "d"].entries()) cache.set(key, value, 0);
    expect(["a", "b", "c", "d"].map((key) => cache.get(key, 0))).toEqual([undefined, 1, 2, 3]);
  });

  it("treats a key that is set again as the newest entry, and removes no other entry for it", () => {
    const cache = createCache<number>(3, 100);
    for (const [value, key] of ["a", "b", "c", "a", "d"].entries()) cache.set(key, value, 0);
    expect(["a", "b", "c", "d"].map((key) => cache.get(key, 0))).toEqual([3, undefined, 2, 4]);
  });

  it("contains exactly the most recently set entries up to its limit, each with its last value", () => {
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
