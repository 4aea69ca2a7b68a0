import type { Readable } from "node:stream";
import { json } from "node:stream/consumers";
import { ItemBuilder, ItemCategory } from "@1password/connect";
import { describe, expect, it } from "vitest";
import { ask, attach, connect, freshVault, login, makeItems, makeToken } from "./support/vault.ts";
import { ID_LIKE } from "./support/titles.ts";

/** What the SDK does wrong or otherwise than one thinks, and no service can help. Not wishes: a new SDK may do better. */

const noItem = { status: 404, message: "No Items found with title" };

describe("it is the SDK's habit that a title", () => {
  it("with a # is cut there, in the middle of the filter", async () => {
    const fresh = await freshVault();
    await makeItems(fresh, "C# keys");
    const refusal = { status: 400, message: "Unsupported request filter" };
    await expect(fresh.op.getItemByTitle(fresh.vault, "C# keys")).rejects.toStrictEqual(refusal);
  });

  it("with a % before two hexadecimal digits arrives as the character of that code", async () => {
    const fresh = await freshVault();
    const [, decoded] = await makeItems(fresh, "%41", "A");
    expect((await fresh.op.getItemByTitle(fresh.vault, "%41")).id).toBe(decoded);
  });

  it.each(["a\tb", "a\nb", "a\r\nb"])("with a tab or an end of line arrives without: %j", async (title) => {
    const fresh = await freshVault();
    const [, bare] = await makeItems(fresh, title, "ab");
    expect((await fresh.op.getItemByTitle(fresh.vault, title)).id).toBe(bare);
  });

  it('with a \\" arrives as one with a ": other clients write a quote so, and this one escapes nothing', async () => {
    const fresh = await freshVault();
    const [, bare] = await makeItems(fresh, 'a\\"b', 'a"b');
    expect((await fresh.op.getItemByTitle(fresh.vault, 'a\\"b')).id).toBe(bare);
  });

  it("with a condition behind a quote is found by its title, and read as two conditions only where no Item has it", async () => {
    const fresh = await freshVault();
    const title = 'A" and title co "';
    const [shorter] = await makeItems(fresh, "A");
    expect((await fresh.op.getItemByTitle(fresh.vault, title)).id).toBe(shorter);
    const [exact] = await makeItems(fresh, title);
    expect((await fresh.op.getItemByTitle(fresh.vault, title)).id).toBe(exact);
  });

  it.each(["getItem", "deleteItem", "getItemOTP", "listFiles"] as const)(
    "of 26 lower-case letters and digits is taken for an id: %s",
    async (method) => {
      const fresh = await freshVault();
      await makeItems(fresh, ID_LIKE[0]);
      const refusal = { status: 404, message: `item ${ID_LIKE[0]} not found` };
      await expect(fresh.op[method](fresh.vault, ID_LIKE[0])).rejects.toStrictEqual(refusal);
    },
  );

  it("of 26 lower-case letters and digits is taken for an id by getVault, and not by getVaultByTitle", async () => {
    const { op, vault } = await freshVault(ID_LIKE[0]);
    const refusal = { status: 403, message: `vault ${ID_LIKE[0]} is not in scope` };
    await expect(op.getVault(ID_LIKE[0])).rejects.toStrictEqual(refusal);
    expect((await op.getVaultByTitle(ID_LIKE[0])).id).toBe(vault);
  });
});

describe("it is the SDK's habit that an id", () => {
  it("of 36 characters is taken for a title: so its tokens have a dialect of their own", async () => {
    const fresh = await freshVault();
    await makeItems(fresh, "One");
    const { token } = await makeToken({ [fresh.canonical]: "rw" }, "uuid");
    const op = connect(token);
    const [item] = await op.listItems(fresh.vault);
    await expect(op.getItem(fresh.vault, item!.id!)).rejects.toStrictEqual(noItem);
    expect((await op.getItemById(fresh.vault, item!.id!)).title).toBe("One");
  });

  it("that is empty asks for a list, and takes it for an Item", async () => {
    const fresh = await freshVault();
    await makeItems(fresh, "One");
    expect((await fresh.op.getItemById(fresh.vault, "")).title).toBeUndefined();
  });

  it("that is empty deletes nothing", async () => {
    const fresh = await freshVault();
    await makeItems(fresh, "One");
    await expect(fresh.op.deleteItemById(fresh.vault, "")).rejects.toMatchObject({ status: 405 });
    expect(await fresh.op.listItems(fresh.vault)).toHaveLength(1);
  });
});

describe("it is the SDK's habit that the ItemBuilder", () => {
  it("drops the label of a URL", async () => {
    const { op, vault } = await freshVault();
    const built = new ItemBuilder().setCategory(ItemCategory.Login).addUrl({ href: "https://a.example", label: "home" });
    expect((await op.createItem(vault, built.build())).urls).toEqual([{ href: "https://a.example" }]);
  });

  it("puts sections into one when only case, accents or punctuation tell them apart", async () => {
    const { op, vault } = await freshVault();
    const builder = new ItemBuilder().setCategory(ItemCategory.Login).addSection("Cafe").addSection("CAFE!").addSection("café");
    expect((await op.createItem(vault, builder.build())).sections).toEqual([{ id: expect.any(String), label: "Cafe" }]);
  });

  it("throws when it is to generate without a recipe, which the service would do", async () => {
    const { op, vault } = await freshVault();
    const builder = new ItemBuilder().setCategory(ItemCategory.Login);
    expect(() => builder.addField({ generate: true })).toThrow(TypeError);
    const item = Object.assign(login("Title"), { fields: [{ label: "key", generate: true }] });
    expect((await op.createItem(vault, item)).fields![0]!.value).toHaveLength(32);
  });

  it("takes the names of its own enum for categories", async () => {
    const { op, vault } = await freshVault();
    const built = new ItemBuilder().setCategory("CreditCard").build();
    await expect(op.createItem(vault, built)).rejects.toStrictEqual({ status: 400, message: "Invalid item category" });
  });

  it.each(["SSH_KEY", "MEDICAL_RECORD"])("does not know the category %s, which it can read and write", async (category) => {
    const { op, vault, token } = await freshVault();
    expect(() => new ItemBuilder().setCategory(category)).toThrow("Item Category is invalid");
    await ask("POST", `v1/vaults/${vault}/items`, token, { title: "One", category });
    const item = await op.getItem(vault, "One");
    expect((await op.updateItem(vault, item)).category).toBe(category);
  });
});

describe("it is the SDK's habit that what it throws for a content", () => {
  it.each(["getFileContent", "getFileContentStream"] as const)("is the answer's body, not yet read: %s", async (method) => {
    const fresh = await freshVault();
    const [item] = await makeItems(fresh, "One");
    const file = await attach(fresh, item!, "content");
    const stranger = (await freshVault()).op;
    const body: unknown = await stranger[method](fresh.vault, item!, file).catch((error: unknown) => error);
    expect(await json(body as Readable)).toEqual({ status: 404, message: `vault ${fresh.vault} not found` });
  });
});
