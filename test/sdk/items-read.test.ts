import { FullItem } from "@1password/connect";
import { describe, expect, it } from "vitest";
import { ask, freshVault, idsOf, makeItems } from "./support/vault.ts";
import { SHORT_ID } from "./support/titles.ts";

describe("listItems", () => {
  it("lists every Item of the vault", async () => {
    const fresh = await freshVault();
    const ids = await makeItems(fresh, "One", "Two", "Three");
    expect(idsOf(await fresh.op.listItems(fresh.vault))).toEqual(ids.toSorted());
  });

  it("gives all that the SDK knows of a summary", async () => {
    const fresh = await freshVault();
    const [id] = await makeItems(fresh, "One");
    expect(await fresh.op.listItems(fresh.vault)).toEqual([
      {
        id,
        title: "One",
        vault: { id: fresh.vault },
        category: "LOGIN",
        urls: [],
        favorite: false,
        tags: [],
        version: 1,
        trashed: undefined, // Connect's old word for what is now `state`
        createdAt: expect.any(Date),
        updatedAt: expect.any(Date),
        lastEditedBy: expect.stringMatching(SHORT_ID),
      },
    ]);
  });

  it("is empty when the vault is", async () => {
    const { op, vault } = await freshVault();
    expect(await op.listItems(vault)).toEqual([]);
  });
});

describe("an Item is got", () => {
  it.each(["getItem", "getItemById"] as const)("by its id: %s", async (method) => {
    const fresh = await freshVault();
    const [id] = await makeItems(fresh, "One", "Two");
    const item = await fresh.op[method](fresh.vault, id!);
    expect(item).toBeInstanceOf(FullItem);
    expect(item).toMatchObject({ id, title: "One", vault: { id: fresh.vault }, sections: [], fields: [], files: [] });
  });

  it.each(["getItem", "getItemByTitle"] as const)("by its title: %s", async (method) => {
    const fresh = await freshVault();
    const [id] = await makeItems(fresh, "One", "One more");
    expect(await fresh.op[method](fresh.vault, "One")).toEqual(await fresh.op.getItemById(fresh.vault, id!));
  });

  it("with its dates, to the millisecond", async () => {
    const fresh = await freshVault();
    const [id] = await makeItems(fresh, "One");
    const { createdAt, updatedAt } = await fresh.op.getItemById(fresh.vault, id!);
    const sent = await ask("GET", `v1/vaults/${fresh.vault}/items/${id}`, fresh.token);
    expect(sent).toMatchObject({ createdAt: createdAt!.toISOString(), updatedAt: updatedAt!.toISOString() });
  });
});

describe("listItemsByTitle", () => {
  it("gives every Item of that title, whole", async () => {
    const fresh = await freshVault();
    const [one = "", two = ""] = await makeItems(fresh, "Twin", "Twin", "Triplet");
    const found = await fresh.op.listItemsByTitle(fresh.vault, "Twin");
    expect(idsOf(found)).toEqual([one, two].toSorted());
    expect(found[0]).toMatchObject({ fields: [], sections: [], files: [] });
  });

  it.each(["twin", "Twi", "Twin "])("compares titles exactly: %j is not one", async (title) => {
    const fresh = await freshVault();
    await makeItems(fresh, "Twin");
    expect(await fresh.op.listItemsByTitle(fresh.vault, title)).toEqual([]);
  });
});

describe("listItemsByTitleContains", () => {
  it("gives every Item with the words in its title, whole", async () => {
    const fresh = await freshVault();
    const [one = "", two = ""] = await makeItems(fresh, "My Twin", "Twin", "twin", "Triplet");
    const found = await fresh.op.listItemsByTitleContains(fresh.vault, "Twin");
    expect(idsOf(found)).toEqual([one, two].toSorted());
    expect(found[0]).toMatchObject({ fields: [], sections: [], files: [] });
  });

  it("gives all Items for no words at all", async () => {
    const fresh = await freshVault();
    await makeItems(fresh, "One", "Two");
    expect(await fresh.op.listItemsByTitleContains(fresh.vault, "")).toHaveLength(2);
  });
});
