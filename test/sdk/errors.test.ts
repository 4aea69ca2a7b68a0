import type { OPConnect } from "@1password/connect";
import { describe, expect, it } from "vitest";
import { admin, connect, freshVault, login, makeItems, makeToken, NOBODY } from "./support/vault.ts";

/** What the SDK throws is the service's answer: an object with a status and a message, and nothing else. */

/** Every method that asks for a vault and an Item, called with their ids. */
const CALLS: Readonly<Record<string, (op: OPConnect, vault: string, item: string) => Promise<unknown>>> = {
  getVaultById: (op, vault) => op.getVaultById(vault),
  listItems: (op, vault) => op.listItems(vault),
  listItemsByTitle: (op, vault) => op.listItemsByTitle(vault, "Title"),
  listItemsByTitleContains: (op, vault) => op.listItemsByTitleContains(vault, "Title"),
  getItemByTitle: (op, vault) => op.getItemByTitle(vault, "Title"),
  createItem: (op, vault) => op.createItem(vault, login("Title")),
  getItemById: (op, vault, item) => op.getItemById(vault, item),
  getItemOTP: (op, vault, item) => op.getItemOTP(vault, item),
  updateItem: (op, vault, item) => op.updateItem(vault, Object.assign(login("Title"), { id: item, vault: { id: vault } })),
  deleteItemById: (op, vault, item) => op.deleteItemById(vault, item),
  listFiles: (op, vault, item) => op.listFiles(vault, item),
  getFileById: (op, vault, item) => op.getFileById(vault, item, NOBODY),
};
const OF_ITEMS = ["getItemById", "getItemOTP", "updateItem", "deleteItemById", "listFiles", "getFileById"];
/** The endpoints that know no 403: contract 1.4. */
const LISTS = new Set(["listItems", "listItemsByTitle", "listItemsByTitleContains", "getItemByTitle", "listFiles"]);

describe("401", () => {
  const unauthorized = { status: 401, message: "Invalid token signature" };

  it.each(Object.keys(CALLS))("a token that nobody issued: %s", async (name) => {
    const { vault, token } = await freshVault();
    const forged = connect(`${token.slice(0, -8)}AAAAAAAA`);
    await expect(CALLS[name]!(forged, vault, NOBODY)).rejects.toStrictEqual(unauthorized);
  });

  it("a token that was revoked", async () => {
    const { op, tokenId } = await freshVault();
    await admin("DELETE", `tokens/${tokenId}`);
    await expect(op.listVaults()).rejects.toStrictEqual(unauthorized);
  });

  it("a token that is none", async () => {
    await expect(connect("nonsense").listVaultsByTitle("Title")).rejects.toStrictEqual(unauthorized);
  });
});

describe("a vault that is not the token's", () => {
  it.each(Object.keys(CALLS))("is a 403, and a 404 for lists: %s", async (name) => {
    const [{ op }, { vault }] = [await freshVault(), await freshVault()];
    const [status, message] = LISTS.has(name) ? [404, `vault ${vault} not found`] : [403, `vault ${vault} is not in scope`];
    await expect(CALLS[name]!(op, vault, NOBODY)).rejects.toStrictEqual({ status, message });
  });
});

describe("a token that may only read", () => {
  it.each(["createItem", "updateItem", "deleteItemById"])("is a 403: %s", async (name) => {
    const { canonical, vault } = await freshVault();
    const { token } = await makeToken({ [canonical]: "r" });
    const refusal = { status: 403, message: `vault ${vault} is not in scope` };
    await expect(CALLS[name]!(connect(token), vault, NOBODY)).rejects.toStrictEqual(refusal);
  });
});

describe("404", () => {
  it.each(OF_ITEMS)("an Item that is not there: %s", async (name) => {
    const { op, vault } = await freshVault();
    const refusal = { status: 404, message: `item ${NOBODY} not found` };
    await expect(CALLS[name]!(op, vault, NOBODY)).rejects.toStrictEqual(refusal);
  });

  it("a File that is not there", async () => {
    const fresh = await freshVault();
    const [item] = await makeItems(fresh, "One");
    const refusal = { status: 404, message: `file ${NOBODY} not found` };
    await expect(fresh.op.getFileById(fresh.vault, item!, NOBODY)).rejects.toStrictEqual(refusal);
  });

  it("a vault that was deleted", async () => {
    const { op, vault, canonical } = await freshVault();
    await admin("DELETE", `vaults/${canonical}`);
    await expect(op.getVaultById(vault)).rejects.toStrictEqual({ status: 404, message: `vault ${vault} not found` });
  });

  it.each(["getItem", "getItemByTitle", "getItemOTP", "deleteItem", "deleteItemByTitle", "listFiles"] as const)(
    "no Item of that title, in the SDK's words: %s",
    async (method) => {
      const { op, vault } = await freshVault();
      const refusal = { status: 404, message: "No Items found with title" };
      await expect(op[method](vault, "None")).rejects.toStrictEqual(refusal);
    },
  );

  it.each(["getVault", "getVaultByTitle"] as const)("no vault of that title, in the SDK's words: %s", async (method) => {
    const { op } = await freshVault();
    await expect(op[method]("None")).rejects.toStrictEqual({ status: 404, message: "No Vaults found with title" });
  });
});
