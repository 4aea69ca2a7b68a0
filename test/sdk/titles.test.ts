import { beforeAll, describe, expect, it } from "vitest";
import { freshVault, idsOf, makeItems } from "./support/vault.ts";
import { ID_LIKE, TITLES } from "./support/titles.ts";

/** An Item of that title, and one that has it somewhere in its own. */
async function withTitle(title: string) {
  const fresh = await freshVault();
  const [item, longer] = await makeItems(fresh, title, `-${title}-`);
  return { ...fresh, item: item!, longer: longer! };
}

describe.each(TITLES)("an Item of the title %j", (title) => {
  let world: Awaited<ReturnType<typeof withTitle>>;

  beforeAll(async () => {
    world = await withTitle(title);
  });

  it("is found by it, alone, and keeps it to the letter", async () => {
    const { op, vault, item } = world;
    for (const found of [await op.getItem(vault, title), await op.getItemByTitle(vault, title)]) {
      expect([found.id, found.title]).toEqual([item, title]);
    }
    expect(idsOf(await op.listItemsByTitle(vault, title))).toEqual([item]);
  });

  it("is found by a part of it", async () => {
    const { op, vault, item, longer } = world;
    const found = await op.listItemsByTitleContains(vault, [...title].slice(0, -1).join(""));
    expect(idsOf(found)).toEqual([item, longer].toSorted());
  });

  // The last one, for the others read what it deletes.
  it("is deleted by it, alone", async () => {
    const { op, vault, longer } = world;
    await op.deleteItem(vault, title);
    expect(idsOf(await op.listItems(vault))).toEqual([longer]);
  });
});

describe.each(ID_LIKE)("an Item of the title %j, which looks like an id", (title) => {
  it("is found by the methods that ask for a title", async () => {
    const { op, vault, item, longer } = await withTitle(title);
    expect((await op.getItemByTitle(vault, title)).id).toBe(item);
    expect(idsOf(await op.listItemsByTitle(vault, title))).toEqual([item]);
    const containing = await op.listItemsByTitleContains(vault, title);
    expect(idsOf(containing)).toEqual([item, longer].toSorted());
  });

  it("is deleted by the method that asks for a title", async () => {
    const { op, vault, longer } = await withTitle(title);
    await op.deleteItemByTitle(vault, title);
    expect(idsOf(await op.listItems(vault))).toEqual([longer]);
  });
});

describe("an Item with the longest of titles, 1 KiB of emoji", () => {
  it("is found by it", async () => {
    const fresh = await freshVault();
    const title = "🔑".repeat(256);
    const [item] = await makeItems(fresh, title);
    expect((await fresh.op.getItemByTitle(fresh.vault, title)).id).toBe(item);
  });
});
