import type { Readable } from "node:stream";
import { json } from "node:stream/consumers";
import { ItemBuilder, ItemCategory } from "@1password/connect";
import { describe, expect, it } from "vitest";
import { ID_LIKE } from "./support/titles.ts";
import { sendRequest, attach, connect, freshVault, login, makeItems, makeToken } from "./support/vault.ts";

/** Defects and surprises of the SDK that a service cannot prevent. A new version of the SDK may change these tests. */

const noItemFound = { status: 404, message: "No Items found with title" };

describe("in a call of the SDK, a title", () => {
  it("with a # is cut at the #, which makes the filter malformed", async () => {
    const fresh = await freshVault();
    await makeItems(fresh, "C# keys");
    const refusal = { status: 400, message: "Unsupported request filter" };
    await expect(fresh.op.getItemByTitle(fresh.vault, "C# keys")).rejects.toStrictEqual(refusal);
  });

  it.each([
    ["a % before two hexadecimal digits is sent as the character of that code", "%41", "A"],
    ["a tab is sent without it", "a\tb", "ab"],
    ["an end of line is sent without it", "a\nb", "ab"],
    ["another end of line is sent without it", "a\r\nb", "ab"],
  ])("with %s", async (_, title, sent) => {
    const fresh = await freshVault();
    const [, found] = await makeItems(fresh, title, sent);
    expect((await fresh.op.getItemByTitle(fresh.vault, title)).id).toBe(found);
  });

  it.each([
    ['a \\" is a title with a " only if no Item has it as it is, because other clients escape quotes', 'a\\"b', 'a"b'],
    ["a term of a filter after a quote is read as two terms only if no Item has the title", 'A" and title co "', "A"],
  ])("with %s", async (_, title, other) => {
    const fresh = await freshVault();
    const [shorter] = await makeItems(fresh, other);
    expect((await fresh.op.getItemByTitle(fresh.vault, title)).id).toBe(shorter);
    const [exact] = await makeItems(fresh, title);
    expect((await fresh.op.getItemByTitle(fresh.vault, title)).id).toBe(exact);
  });

  it.each(["getItem", "deleteItem", "getItemOTP", "listFiles"] as const)(
    "of 26 lower-case letters and digits is sent as an id: %s",
    async (method) => {
      const fresh = await freshVault();
      await makeItems(fresh, ID_LIKE[0]);
      const refusal = { status: 404, message: `item ${ID_LIKE[0]} not found` };
      await expect(fresh.op[method](fresh.vault, ID_LIKE[0])).rejects.toStrictEqual(refusal);
    },
  );

  it("of 26 lower-case letters and digits is sent as an id by getVault, but not by getVaultByTitle", async () => {
    const { op, vault } = await freshVault(ID_LIKE[0]);
    const refusal = { status: 403, message: `vault ${ID_LIKE[0]} is not in scope` };
    await expect(op.getVault(ID_LIKE[0])).rejects.toStrictEqual(refusal);
    expect((await op.getVaultByTitle(ID_LIKE[0])).id).toBe(vault);
  });
});

describe("in a call of the SDK, an id", () => {
  it("of 36 characters is sent as a title, so the SDK needs tokens of the dialect connect", async () => {
    const fresh = await freshVault();
    await makeItems(fresh, "One");
    const { token } = await makeToken({ [fresh.canonical]: "rw" }, "uuid");
    const op = connect(token);
    const [item] = await op.listItems(fresh.vault);
    await expect(op.getItem(fresh.vault, item!.id!)).rejects.toStrictEqual(noItemFound);
    expect((await op.getItemById(fresh.vault, item!.id!)).title).toBe("One");
  });

  it("that is empty requests a list, which getItemById returns as an Item", async () => {
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

describe("the ItemBuilder of the SDK", () => {
  it("drops the label of a URL", async () => {
    const { op, vault } = await freshVault();
    const built = new ItemBuilder().setCategory(ItemCategory.Login).addUrl({ href: "https://a.example", label: "home" });
    expect((await op.createItem(vault, built.build())).urls).toEqual([{ href: "https://a.example" }]);
  });

  it("merges sections whose names differ only in case, accents or punctuation", async () => {
    const { op, vault } = await freshVault();
    const builder = new ItemBuilder().setCategory(ItemCategory.Login).addSection("Cafe").addSection("CAFE!").addSection("café");
    expect((await op.createItem(vault, builder.build())).sections).toEqual([{ id: expect.any(String), label: "Cafe" }]);
  });

  it("throws for generate without a recipe, which the service accepts", async () => {
    const { op, vault } = await freshVault();
    const builder = new ItemBuilder().setCategory(ItemCategory.Login);
    expect(() => builder.addField({ generate: true })).toThrow(TypeError);
    const item = Object.assign(login("Title"), { fields: [{ label: "key", generate: true }] });
    expect((await op.createItem(vault, item)).fields![0]!.value).toHaveLength(32);
  });

  it("accepts the names of its enum as categories, which the service refuses", async () => {
    const { op, vault } = await freshVault();
    const built = new ItemBuilder().setCategory("CreditCard").build();
    await expect(op.createItem(vault, built)).rejects.toStrictEqual({ status: 400, message: "Invalid item category" });
  });

  it.each(["SSH_KEY", "MEDICAL_RECORD"])("refuses the category %s, which the client can read and write", async (category) => {
    const { op, vault, token } = await freshVault();
    expect(() => new ItemBuilder().setCategory(category)).toThrow("Item Category is invalid");
    await sendRequest("POST", `v1/vaults/${vault}/items`, token, { title: "One", category });
    const item = await op.getItem(vault, "One");
    expect((await op.updateItem(vault, item)).category).toBe(category);
  });
});

describe("the error that the SDK throws for the content of a File", () => {
  it.each(["getFileContent", "getFileContentStream"] as const)(
    "is the unread stream of the response body: %s",
    async (method) => {
      const fresh = await freshVault();
      const [item] = await makeItems(fresh, "One");
      const file = await attach(fresh, item!, "content");
      const outsider = (await freshVault()).op;
      const body: unknown = await outsider[method](fresh.vault, item!, file).catch((error: unknown) => error);
      expect(await json(body as Readable)).toEqual({ status: 404, message: `vault ${fresh.vault} not found` });
    },
  );
});
