import { describe, expect, it } from "vitest";
import type { ItemRow } from "../../src/store/items/items.ts";
import { createRowCache } from "../../src/store/commit/cache.ts";
import type { RowRequest } from "../../src/store/commit/rows.ts";
import type { VaultRow } from "../../src/store/vaults/rows.ts";

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

/** The cache of a coordinator (src/store/commit/cache.ts). */
describe("the row cache", () => {
  it("is empty at first, and does not return rows when one of the requested Items is not cached", () => {
    const cache = createRowCache(1000);
    expect(cache.get(requestFor())).toBeUndefined();
    cache.put({ vault: vaultAt(1), items: [sealedItem("a")], filesOf, kept });
    expect(cache.get(requestFor("a"))).toMatchObject({ vault: vaultAt(1), items: [sealedItem("a")] });
    expect(cache.get(requestFor("a", "b"))).toBeUndefined();
  });

  it("is emptied when rows of another version of the vault are added, and keeps its rows otherwise", () => {
    const cache = createRowCache(1000);
    cache.put({ vault: vaultAt(1), items: [sealedItem("a")], filesOf, kept });
    cache.put({ vault: vaultAt(1), items: [sealedItem("b")], filesOf, kept });
    expect(cache.get(requestFor("a", "b"))?.items).toHaveLength(2);
    cache.put({ vault: vaultAt(2), items: [sealedItem("b")], filesOf, kept });
    expect(cache.get(requestFor("a"))).toBeUndefined();
    expect(cache.get(requestFor("b"))).toBeDefined();
    cache.put({ vault: { ...vaultAt(2), updated_at: 1 }, items: [], filesOf, kept });
    expect(cache.get(requestFor("b"))).toBeUndefined();
  });

  it("contains the rows that a commit wrote, and is emptied when the outcome of a commit is unknown", () => {
    const cache = createRowCache(1000);
    cache.put({ vault: vaultAt(1), items: [sealedItem("a"), sealedItem("b"), sealedItem("c")], filesOf, kept });
    cache.update({ vault: vaultAt(2), items: [sealedItem("a", 2)], kept, created: [], unknown: ["b"] });
    expect(cache.get(requestFor("a", "c"))).toMatchObject({ vault: vaultAt(2), items: [sealedItem("a", 2), sealedItem("c")] });
    expect(cache.get(requestFor("b"))).toBeUndefined();
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
