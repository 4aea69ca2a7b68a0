import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createCache } from "../../src/crypto/cache.ts";
import { createRowCache } from "../../src/store/commit/cache.ts";
import type { RowRequest } from "../../src/store/commit/rows.ts";
import type { ItemRow } from "../../src/store/items/items.ts";
import type { VaultRow } from "../../src/store/vaults/rows.ts";

/** A map with a limit on the age and on the number of its entries (src/crypto/cache.ts). */
describe("a cache", () => {
  it("returns an entry until its time to live has passed since it was set last, whether it is read or not", () => {
    const cache = createCache<string>(10, 100);
    cache.set("a", "A", 1000);
    expect([cache.get("a", 1000), cache.get("a", 1099), cache.get("a", 1100)]).toEqual(["A", "A", undefined]);
    cache.set("a", "A", 2000);
    cache.set("a", "B", 2090);
    expect([cache.get("a", 2150), cache.get("a", 2190)]).toEqual(["B", undefined]);
  });

  it("returns undefined for a key that was not set", () => {
    const cache = createCache<string>(10, 100);
    cache.set("a", "A", 0);
    expect([cache.get("b", 0), cache.get("__proto__", 0), cache.get("", 0)]).toEqual([undefined, undefined, undefined]);
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

const vaultAt = (content_version: number) => ({ id: "v", content_version, attribute_version: 1 }) as VaultRow;
const sealedItem = (id: string, version = 1): ItemRow => ({ id, version, overview: "x".repeat(50), details: "x".repeat(50) });
const requestFor = (...items: string[]): RowRequest => ({
  vault: "v",
  tokens: new Map(),
  items,
  created: [],
  texts: [],
  operations: [],
  records: [],
});
const filesOf = new Map();
const kept = new Map();

/** The cache of a coordinator (src/store/commit/cache.ts): its size. test/promises/row-cache.test.ts has its rules. */
describe("the row cache", () => {
  it("is emptied by rows of another version of the vault, and when the outcome of a commit is unknown", () => {
    const cache = createRowCache(1000);
    const put = (version: number, id: string) => cache.put({ vault: vaultAt(version), items: [sealedItem(id)], filesOf, kept });
    for (const id of "ab") put(1, id);
    expect(cache.get(requestFor("a", "b"))?.items).toHaveLength(2);
    put(2, "b");
    expect([cache.get(requestFor("a")), cache.get(requestFor("b"))?.items]).toEqual([undefined, [sealedItem("b")]]);
    cache.update(undefined);
    expect(cache.get(requestFor())).toBeUndefined();
  });

  it("does not add an updated Item whose entry was removed for lack of space, because its Files are unknown", () => {
    const cache = createRowCache(1000);
    const file = { item_id: "a", id: "f", generation: "g", size: 1, sealed: "x", since: 1 };
    cache.put({ vault: vaultAt(1), items: [sealedItem("a"), sealedItem("b")], filesOf: new Map([["a", [file]]]), kept });
    const larger = { ...sealedItem("b", 2), details: "x".repeat(940) };
    cache.update({ vault: vaultAt(2), items: [larger, sealedItem("a", 2)], kept, created: [], unknown: [] });
    expect(cache.get(requestFor("a"))).toBeUndefined();
    cache.update({ vault: vaultAt(3), items: [sealedItem("c")], kept, created: ["c"], unknown: [] });
    expect(cache.get(requestFor("c"))?.filesOf.get("c")).toEqual([]);
  });

  it("never exceeds its size limit: it removes the Items that were read or written least recently", () => {
    const cache = createRowCache(1000);
    const ids = Array.from({ length: 30 }, (_, index) => `item ${index}`);
    for (const id of ids) cache.put({ vault: vaultAt(1), items: [sealedItem(id)], filesOf, kept });
    expect(ids.filter((id) => cache.get(requestFor(id)))).toEqual(ids.slice(-10));
    cache.update({
      vault: vaultAt(2),
      items: [{ ...sealedItem("large"), details: "x".repeat(2000) }],
      kept,
      created: ["large"],
      unknown: [],
    });
    expect(ids.filter((id) => cache.get(requestFor(id)))).toEqual([]);
    expect(cache.get(requestFor("large"))).toBeUndefined();
    expect(cache.get(requestFor())).toBeDefined();
  });
});
