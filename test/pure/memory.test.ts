import { describe, expect, it } from "vitest";
import type { ItemRow } from "../../src/store/items.ts";
import { createMemory } from "../../src/store/memory.ts";
import type { Wanted } from "../../src/store/rows.ts";
import type { VaultRow } from "../../src/store/vaults.ts";

const vaultAt = (content_version: number) => ({ id: "v", content_version, attribute_version: 1 }) as VaultRow;
const sealedItem = (id: string, version = 1): ItemRow => ({ id, version, overview: "x".repeat(50), details: "x".repeat(50) });
const wanted = (...items: string[]): Wanted => ({ vault: "v", tokens: [], items, created: [], operations: [], replays: [] });
const filesOf = new Map();

describe("what is remembered", () => {
  it("is nothing at first, and nothing of an Item that was never seen", () => {
    const memory = createMemory(1000);
    expect(memory.recall(wanted())).toBeUndefined();
    memory.learn({ vault: vaultAt(1), items: [sealedItem("a")], filesOf });
    expect(memory.recall(wanted("a"))).toMatchObject({ vault: vaultAt(1), items: [sealedItem("a")] });
    expect(memory.recall(wanted("a", "b"))).toBeUndefined();
  });

  it("is given up when the vault has moved on without it, and kept when it has not", () => {
    const memory = createMemory(1000);
    memory.learn({ vault: vaultAt(1), items: [sealedItem("a")], filesOf });
    memory.learn({ vault: vaultAt(1), items: [sealedItem("b")], filesOf });
    expect(memory.recall(wanted("a", "b"))?.items).toHaveLength(2);
    memory.learn({ vault: vaultAt(2), items: [sealedItem("b")], filesOf });
    expect(memory.recall(wanted("a"))).toBeUndefined();
    expect(memory.recall(wanted("b"))).toBeDefined();
    memory.learn({ vault: { ...vaultAt(2), updated_at: 1 }, items: [], filesOf });
    expect(memory.recall(wanted("b"))).toBeUndefined();
  });

  it("moves on with a commit, and is given up when nobody knows what became of it", () => {
    const memory = createMemory(1000);
    memory.learn({ vault: vaultAt(1), items: [sealedItem("a"), sealedItem("b"), sealedItem("c")], filesOf });
    memory.advance({ vault: vaultAt(2), items: [sealedItem("a", 2)], created: [], unknown: ["b"] });
    expect(memory.recall(wanted("a", "c"))).toMatchObject({ vault: vaultAt(2), items: [sealedItem("a", 2), sealedItem("c")] });
    expect(memory.recall(wanted("b"))).toBeUndefined();
    memory.advance(undefined);
    expect(memory.recall(wanted())).toBeUndefined();
  });

  it("takes an Item that it had to let go for unknown, not for one without Files", () => {
    const memory = createMemory(1000);
    const file = { item_id: "a", id: "f", generation: "g", size: 1, sealed: "x" };
    memory.learn({ vault: vaultAt(1), items: [sealedItem("a"), sealedItem("b")], filesOf: new Map([["a", [file]]]) });
    const grown = { ...sealedItem("b", 2), details: "x".repeat(940) };
    memory.advance({ vault: vaultAt(2), items: [grown, sealedItem("a", 2)], created: [], unknown: [] });
    expect(memory.recall(wanted("a"))).toBeUndefined();
    memory.advance({ vault: vaultAt(3), items: [sealedItem("c")], created: ["c"], unknown: [] });
    expect(memory.recall(wanted("c"))?.filesOf.get("c")).toEqual([]);
  });

  it("is never more than it may be: what was read or written longest ago goes", () => {
    const memory = createMemory(1000);
    const ids = Array.from({ length: 30 }, (_, index) => `item ${index}`);
    for (const id of ids) memory.learn({ vault: vaultAt(1), items: [sealedItem(id)], filesOf });
    expect(ids.filter((id) => memory.recall(wanted(id)))).toEqual(ids.slice(-10));
    memory.advance({
      vault: vaultAt(2),
      items: [{ ...sealedItem("large"), details: "x".repeat(2000) }],
      created: ["large"],
      unknown: [],
    });
    expect(ids.filter((id) => memory.recall(wanted(id)))).toEqual([]);
    expect(memory.recall(wanted("large"))).toBeUndefined();
    expect(memory.recall(wanted())).toBeDefined();
  });
});
