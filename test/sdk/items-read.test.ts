import { FullItem } from "@1password/connect";
import { describe, expect, it } from "vitest";
import { sendRequest, freshVault, idsOf, makeItems } from "./support/vault.ts";
import { SHORT_ID } from "./support/titles.ts";

describe("listItems", () => {
  it("returns every Item of the vault", async () => {
    const fresh = await freshVault();
    const ids = await makeItems(fresh, "One", "Two", "Three");
    expect(idsOf(await fresh.op.listItems(fresh.vault))).toEqual(ids.toSorted());
  });

  it("returns all attributes of a summary that the SDK knows", async () => {
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
        trashed: undefined, // Connect's former attribute for what is now `state`
        createdAt: expect.any(Date),
        updatedAt: expect.any(Date),
        lastEditedBy: expect.stringMatching(SHORT_ID),
      },
    ]);
  });

  it("returns an empty list for an empty vault", async () => {
    const { op, vault } = await freshVault();
    expect(await op.listItems(vault)).toEqual([]);
  });
});

describe("an Item is returned", () => {
  it.each(["getItem", "getItemById"] as const)("for its id: %s", async (method) => {
    const fresh = await freshVault();
    const [id] = await makeItems(fresh, "One", "Two");
    const item = await fresh.op[method](fresh.vault, id!);
    expect(item).toBeInstanceOf(FullItem);
    expect(item).toMatchObject({ id, title: "One", vault: { id: fresh.vault }, sections: [], fields: [], files: [] });
  });

  it.each(["getItem", "getItemByTitle"] as const)("for its title: %s", async (method) => {
    const fresh = await freshVault();
    const [id] = await makeItems(fresh, "One", "One more");
    expect(await fresh.op[method](fresh.vault, "One")).toEqual(await fresh.op.getItemById(fresh.vault, id!));
  });

  it("with its times in milliseconds", async () => {
    const fresh = await freshVault();
    const [id] = await makeItems(fresh, "One");
    const { createdAt, updatedAt } = await fresh.op.getItemById(fresh.vault, id!);
    const raw = await sendRequest("GET", `v1/vaults/${fresh.vault}/items/${id}`, fresh.token);
    expect(raw).toMatchObject({ createdAt: createdAt!.toISOString(), updatedAt: updatedAt!.toISOString() });
  });
});

describe("listItemsByTitle", () => {
  it("returns every Item with the title, with fields, sections and files", async () => {
    const fresh = await freshVault();
    const [one = "", two = ""] = await makeItems(fresh, "Twin", "Twin", "Triplet");
    const matching = await fresh.op.listItemsByTitle(fresh.vault, "Twin");
    expect(idsOf(matching)).toEqual([one, two].toSorted());
    expect(matching[0]).toMatchObject({ fields: [], sections: [], files: [] });
  });

  it.each(["twin", "Twi", "Twin "])("compares titles exactly: %j finds no Item", async (title) => {
    const fresh = await freshVault();
    await makeItems(fresh, "Twin");
    expect(await fresh.op.listItemsByTitle(fresh.vault, title)).toEqual([]);
  });
});

describe("listItemsByTitleContains", () => {
  it("returns every Item whose title contains the text, with fields, sections and files", async () => {
    const fresh = await freshVault();
    const [one = "", two = ""] = await makeItems(fresh, "My Twin", "Twin", "twin", "Triplet");
    const matching = await fresh.op.listItemsByTitleContains(fresh.vault, "Twin");
    expect(idsOf(matching)).toEqual([one, two].toSorted());
    expect(matching[0]).toMatchObject({ fields: [], sections: [], files: [] });
  });

  it("returns all Items for the empty text", async () => {
    const fresh = await freshVault();
    await makeItems(fresh, "One", "Two");
    expect(await fresh.op.listItemsByTitleContains(fresh.vault, "")).toHaveLength(2);
  });
});
