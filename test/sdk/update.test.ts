import { FieldPurpose, FieldType, type FullItem, ItemBuilder, ItemCategory } from "@1password/connect";
import { describe, expect, it } from "vitest";
import { attach, freshVault, idsOf, makeItems } from "./support/vault.ts";

/** An Item with a value in every attribute that the SDK can write, and with a File. */
async function makeRichItem() {
  const fresh = await freshVault();
  const built = new ItemBuilder()
    .setCategory(ItemCategory.Login)
    .setTitle("Rich")
    .toggleFavorite()
    .addTag("tag")
    .addUrl({ href: "https://a.example", primary: true })
    .addField({ label: "user", value: "ada", purpose: FieldPurpose.Username })
    .addField({ label: "pass", generate: true, recipe: {}, purpose: FieldPurpose.Password })
    .addField({ label: "key", value: "s3cret", type: FieldType.Concealed, sectionName: "More" })
    .build();
  built.urls![0]!.label = "home";
  const { id } = await fresh.op.createItem(fresh.vault, built);
  await attach(fresh, id!, "content", "name=a.txt");
  return { ...fresh, item: await fresh.op.getItemById(fresh.vault, id!) };
}

/** The Item without the attributes that every write changes. */
const withoutVersion = (item: FullItem) => ({ ...item, version: 0, updatedAt: 0 });

describe("updateItem", () => {
  it("with an unchanged Item changes only the version and updatedAt", async () => {
    const { op, vault, item } = await makeRichItem();
    await op.updateItem(vault, item);
    const current = await op.getItemById(vault, item.id!);
    expect(withoutVersion(current)).toEqual(withoutVersion(item));
    expect(current.version).toBe(item.version! + 1);
  });

  it("returns the Item with the version that was replaced, as Connect does", async () => {
    const { op, vault, item } = await makeRichItem();
    item.title = "New";
    const answer = await op.updateItem(vault, item);
    const current = await op.getItemById(vault, item.id!);
    expect(answer).toEqual({ ...current, version: item.version });
    expect(current.title).toBe("New");
  });

  it("replaces the Item and keeps its Files", async () => {
    const { op, vault, item } = await makeRichItem();
    Object.assign(item, { title: "Poor", favorite: false, tags: [], urls: [{ href: "https://b.example", label: "away" }] });
    item.fields = [{ ...item.fields![0]!, value: "grace" }];
    item.sections = [];
    await op.updateItem(vault, item);
    expect(await op.getItemById(vault, item.id!)).toMatchObject({
      title: "Poor",
      favorite: false,
      tags: [],
      urls: [{ href: "https://b.example", label: "away" }],
      fields: [{ id: "username", label: "user", value: "grace" }],
      sections: [],
      files: [{ name: "a.txt" }],
    });
  });

  it("generates a new value for a field whose value was removed", async () => {
    const { op, vault, item } = await makeRichItem();
    const password = item.fields![1]!;
    const old = password.value;
    Object.assign(password, { value: undefined, generate: true, recipe: { length: 10 } });
    const { fields } = await op.updateItem(vault, item);
    expect(fields![1]!.value).toHaveLength(10);
    expect(fields![1]!.value).not.toBe(old);
  });

  it("accepts the Item that another update returned", async () => {
    const { op, vault, item } = await makeRichItem();
    const once = await op.updateItem(vault, { ...item, title: "Once" } as FullItem);
    await op.updateItem(vault, Object.assign(once, { title: "Twice" }));
    expect(await op.getItemById(vault, item.id!)).toMatchObject({ title: "Twice", version: item.version! + 2 });
  });
});

describe("an Item is deleted", () => {
  it.each(["deleteItem", "deleteItemById"] as const)("by its id: %s", async (method) => {
    const fresh = await freshVault();
    const [one, two] = await makeItems(fresh, "Twin", "Twin");
    await fresh.op[method](fresh.vault, one!);
    expect(idsOf(await fresh.op.listItems(fresh.vault))).toEqual([two]);
  });

  it.each(["deleteItem", "deleteItemByTitle"] as const)("by its title: %s", async (method) => {
    const fresh = await freshVault();
    const [, two] = await makeItems(fresh, "One", "Two");
    await fresh.op[method](fresh.vault, "One");
    expect(idsOf(await fresh.op.listItems(fresh.vault))).toEqual([two]);
  });

  it("with its Files", async () => {
    const { op, vault, item } = await makeRichItem();
    await op.deleteItem(vault, item.id!);
    const message = `item ${item.id} not found`;
    await expect(op.listFiles(vault, item.id!)).rejects.toStrictEqual({ status: 404, message });
  });
});
