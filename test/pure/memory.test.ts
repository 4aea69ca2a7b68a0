import { describe, expect, it } from "vitest";
import type { ItemRow } from "../../src/store/items.ts";
import { createRowCache } from "../../src/store/write/cache.ts";
import type { RowRequest } from "../../src/store/write/rows.ts";
import type { VaultRow } from "../../src/store/vault-rows.ts";

const vaultAt = (content_version: number) => ({ id: "v", content_version, attribute_version: 1 }) as VaultRow;
const sealedItem = (id: string, version = 1): ItemRow => ({ id, version, overview: "x".repeat(50), details: "x".repeat(50) });
const wanted = (...items: string[]): RowRequest => ({ vault: "v", tokens: [], items, created: [], operations: [], records: [] });
const filesOf = new Map();

describe("what is remembered", () => {
  it("is nothing at first, and nothing of an Item that was never seen", () => {
    const memory = createRowCache(1000);
    expect(memory.get(wanted())).toBeUndefined();
    memory.put({ vault: vaultAt(1), items: [sealedItem("a")], filesOf });
    expect(memory.get(wanted("a"))).toMatchObject({ vault: vaultAt(1), items: [sealedItem("a")] });
    expect(memory.get(wanted("a", "b"))).toBeUndefined();
  });

  it("is given up when the vault has moved on without it, and kept when it has not", () => {
    const memory = createRowCache(1000);
    memory.put({ vault: vaultAt(1), items: [sealedItem("a")], filesOf });
    memory.put({ vault: vaultAt(1), items: [sealedItem("b")], filesOf });
    expect(memory.get(wanted("a", "b"))?.items).toHaveLength(2);
    memory.put({ vault: vaultAt(2), items: [sealedItem("b")], filesOf });
    expect(memory.get(wanted("a"))).toBeUndefined();
    expect(memory.get(wanted("b"))).toBeDefined();
    memory.put({ vault: { ...vaultAt(2), updated_at: 1 }, items: [], filesOf });
    expect(memory.get(wanted("b"))).toBeUndefined();
  });

  it("moves on with a commit, and is given up when nobody knows what became of it", () => {
    const memory = createRowCache(1000);
    memory.put({ vault: vaultAt(1), items: [sealedItem("a"), sealedItem("b"), sealedItem("c")], filesOf });
    memory.update({ vault: vaultAt(2), items: [sealedItem("a", 2)], created: [], unknown: ["b"] });
    expect(memory.get(wanted("a", "c"))).toMatchObject({ vault: vaultAt(2), items: [sealedItem("a", 2), sealedItem("c")] });
    expect(memory.get(wanted("b"))).toBeUndefined();
    memory.update(undefined);
    expect(memory.get(wanted())).toBeUndefined();
  });

  it("takes an Item that it had to let go for unknown, not for one without Files", () => {
    const memory = createRowCache(1000);
    const file = { item_id: "a", id: "f", generation: "g", size: 1, sealed: "x" };
    memory.put({ vault: vaultAt(1), items: [sealedItem("a"), sealedItem("b")], filesOf: new Map([["a", [file]]]) });
    const grown = { ...sealedItem("b", 2), details: "x".repeat(940) };
    memory.update({ vault: vaultAt(2), items: [grown, sealedItem("a", 2)], created: [], unknown: [] });
    expect(memory.get(wanted("a"))).toBeUndefined();
    memory.update({ vault: vaultAt(3), items: [sealedItem("c")], created: ["c"], unknown: [] });
    expect(memory.get(wanted("c"))?.filesOf.get("c")).toEqual([]);
  });

  it("is never more than it may be: what was read or written longest ago goes", () => {
    const memory = createRowCache(1000);
    const ids = Array.from({ length: 30 }, (_, index) => `item ${index}`);
    for (const id of ids) memory.put({ vault: vaultAt(1), items: [sealedItem(id)], filesOf });
    expect(ids.filter((id) => memory.get(wanted(id)))).toEqual(ids.slice(-10));
    memory.update({
      vault: vaultAt(2),
      items: [{ ...sealedItem("large"), details: "x".repeat(2000) }],
      created: ["large"],
      unknown: [],
    });
    expect(ids.filter((id) => memory.get(wanted(id)))).toEqual([]);
    expect(memory.get(wanted("large"))).toBeUndefined();
    expect(memory.get(wanted())).toBeDefined();
  });
});
