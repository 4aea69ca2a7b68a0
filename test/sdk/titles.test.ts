import { beforeAll, describe, expect, it } from "vitest";
import { ID_LIKE, TITLES } from "./support/titles.ts";
import { freshVault, idsOf, makeItems } from "./support/vault.ts";

/** A vault with an Item of the title, and an Item (`longer`) whose title contains the title. */
async function makeTitledItems(title: string) {
  const fresh = await freshVault();
  const [item, longer] = await makeItems(fresh, title, `-${title}-`);
  return { ...fresh, item: item!, longer: longer! };
}

describe.each(TITLES)("an Item with the title %j", (title) => {
  let fresh: Awaited<ReturnType<typeof makeTitledItems>>;

  beforeAll(async () => {
    fresh = await makeTitledItems(title);
  });

  it("is the only Item found by the title, which is returned unchanged", async () => {
    const { op, vault, item } = fresh;
    for (const result of [await op.getItem(vault, title), await op.getItemByTitle(vault, title)]) {
      expect([result.id, result.title]).toEqual([item, title]);
    }
    expect(idsOf(await op.listItemsByTitle(vault, title))).toEqual([item]);
  });

  it("is found by a part of the title", async () => {
    const { op, vault, item, longer } = fresh;
    const found = await op.listItemsByTitleContains(vault, [...title].slice(0, -1).join(""));
    expect(idsOf(found)).toEqual([item, longer].toSorted());
  });

  // The last test, because the others read the Item that it deletes.
  it("is the only Item that deleteItem deletes by the title", async () => {
    const { op, vault, longer } = fresh;
    await op.deleteItem(vault, title);
    expect(idsOf(await op.listItems(vault))).toEqual([longer]);
  });
});

describe.each(ID_LIKE)("an Item with the title %j, which has the form of an id", (title) => {
  it("is found and deleted by the methods that take only a title", async () => {
    const { op, vault, item, longer } = await makeTitledItems(title);
    expect((await op.getItemByTitle(vault, title)).id).toBe(item);
    expect(idsOf(await op.listItemsByTitle(vault, title))).toEqual([item]);
    expect(idsOf(await op.listItemsByTitleContains(vault, title))).toEqual([item, longer].toSorted());
    await op.deleteItemByTitle(vault, title);
    expect(idsOf(await op.listItems(vault))).toEqual([longer]);
  });
});

it("an Item with a title of the greatest length, 1 KiB of emoji, is found by its title", async () => {
  const fresh = await freshVault();
  const title = "🔑".repeat(256);
  const [item] = await makeItems(fresh, title);
  expect((await fresh.op.getItemByTitle(fresh.vault, title)).id).toBe(item);
});
