import { FieldPurpose, ItemBuilder, ItemCategory } from "@1password/connect";
import { describe, expect, it } from "vitest";
import { connect, freshVault, login, makeItems, makeToken, makeVault, UNUSED_ID } from "./support/vault.ts";

describe("the SDK or the service refuses with a 400", () => {
  it("an unknown category", async () => {
    const { op, vault } = await freshVault();
    const item = Object.assign(login("Title"), { category: "SANDWICH" });
    await expect(op.createItem(vault, item)).rejects.toStrictEqual({ status: 400, message: "Invalid item category" });
  });

  it("a PASSWORD Item without a password field", async () => {
    const { op, vault } = await freshVault();
    const built = new ItemBuilder().setCategory(ItemCategory.Password).build();
    const refusal = { status: 400, message: "The item doesn't have a password field." };
    await expect(op.createItem(vault, built)).rejects.toStrictEqual(refusal);
  });

  it("an Item without its vault: updateItem (createItem adds the vault)", async () => {
    const fresh = await freshVault();
    const [id] = await makeItems(fresh, "One");
    const refusal = { status: 400, message: "The item doesn't have a vault field." };
    await expect(fresh.op.updateItem(fresh.vault, Object.assign(login("Title"), { id }))).rejects.toStrictEqual(refusal);
  });

  it("a recipe that leaves no character", async () => {
    const { op, vault } = await freshVault();
    const field = { generate: true, recipe: { length: 8, characterSets: ["DIGITS"], excludeCharacters: "0123456789" } };
    const item = Object.assign(login("Title"), { fields: [{ ...field, purpose: FieldPurpose.Password }] });
    const refusal = { status: 400, message: expect.stringContaining("fields[0].recipe") };
    await expect(op.createItem(vault, item)).rejects.toStrictEqual(refusal);
    expect(await op.listItems(vault)).toEqual([]);
  });

  it.each(["getItemById", "deleteItemById"] as const)("a malformed id: %s", async (method) => {
    const { op, vault } = await freshVault();
    await expect(op[method](vault, "nonsense")).rejects.toStrictEqual({ status: 400, message: "Invalid Item UUID" });
    await expect(op[method]("nonsense", UNUSED_ID)).rejects.toStrictEqual({ status: 400, message: "Invalid Vault UUID" });
  });

  it.each(["getItem", "getItemByTitle", "getItemOTP", "deleteItem", "deleteItemByTitle", "listFiles"] as const)(
    "a title that two Items have, with the message of the SDK, and deletes neither: %s",
    async (method) => {
      const fresh = await freshVault();
      await makeItems(fresh, "Twin", "Twin");
      const message = "Found multiple Items with given title. Provide a more specific Item title";
      await expect(fresh.op[method](fresh.vault, "Twin")).rejects.toStrictEqual({ status: 400, message });
      expect(await fresh.op.listItems(fresh.vault)).toHaveLength(2);
    },
  );

  it.each(["getVault", "getVaultByTitle"] as const)(
    "a title that two vaults have, with the message of the SDK: %s",
    async (method) => {
      const { token } = await makeToken({ [await makeVault("Twin")]: "r", [await makeVault("twin")]: "r" });
      const message = "Found multiple Vaults with given title. Provide a more specific Vault title";
      await expect(connect(token)[method]("Twin")).rejects.toStrictEqual({ status: 400, message });
    },
  );
});
