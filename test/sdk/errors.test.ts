import type { OPConnect } from "@1password/connect";
import { beforeAll, describe, expect, it } from "vitest";
import { admin, connect, freshVault, login, makeItems, makeToken, type TestVault, UNUSED_ID } from "./support/vault.ts";

/** Two vaults, each with a token of its own. The tests that use them are refused, so both stay empty. */
let one: TestVault;
let two: TestVault;
beforeAll(async () => {
  [one, two] = [await freshVault(), await freshVault()];
});

/** The SDK throws the body of an error response: an object with `status` and `message` and nothing else (contract 4.1). */

/** Every method that takes a vault, or a vault and an Item, called with their ids. */
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
  getFileById: (op, vault, item) => op.getFileById(vault, item, UNUSED_ID),
};
const OF_ITEMS = ["getItemById", "getItemOTP", "updateItem", "deleteItemById", "listFiles", "getFileById"];
/** The methods whose endpoints answer 404 instead of 403 (contract 4.7). */
const LISTS = new Set(["listItems", "listItemsByTitle", "listItemsByTitleContains", "getItemByTitle", "listFiles"]);

describe("a 401 is thrown for", () => {
  const unauthorized = { status: 401, message: "Invalid token signature" };

  it.each(Object.keys(CALLS))("a token with an invalid signature: %s", async (name) => {
    const { vault, token } = one;
    const forged = connect(`${token.slice(0, -8)}AAAAAAAA`);
    await expect(CALLS[name]!(forged, vault, UNUSED_ID)).rejects.toStrictEqual(unauthorized);
  });

  it("a revoked token", async () => {
    const { op, tokenId } = await freshVault();
    await admin("DELETE", `tokens/${tokenId}`);
    await expect(op.listVaults()).rejects.toStrictEqual(unauthorized);
  });

  it("a malformed token", async () => {
    await expect(connect("nonsense").listVaultsByTitle("Title")).rejects.toStrictEqual(unauthorized);
  });
});

describe("a vault that is not in the token", () => {
  it.each(Object.keys(CALLS))("is a 403, or a 404 for lists: %s", async (name) => {
    const [{ op }, { vault }] = [one, two];
    const [status, message] = LISTS.has(name) ? [404, `vault ${vault} not found`] : [403, `vault ${vault} is not in scope`];
    await expect(CALLS[name]!(op, vault, UNUSED_ID)).rejects.toStrictEqual({ status, message });
  });
});

describe("a write with a token of permission r", () => {
  it.each(["createItem", "updateItem", "deleteItemById"])("is a 403: %s", async (name) => {
    const { canonical, vault } = one;
    const { token } = await makeToken({ [canonical]: "r" });
    const refusal = { status: 403, message: `the token may not write to vault ${vault}` };
    await expect(CALLS[name]!(connect(token), vault, UNUSED_ID)).rejects.toStrictEqual(refusal);
  });
});

describe("a 404 is thrown for", () => {
  it.each(OF_ITEMS)("an Item that does not exist: %s", async (name) => {
    const { op, vault } = one;
    const refusal = { status: 404, message: `item ${UNUSED_ID} not found` };
    await expect(CALLS[name]!(op, vault, UNUSED_ID)).rejects.toStrictEqual(refusal);
  });

  it("a File that does not exist", async () => {
    const fresh = await freshVault();
    const [item] = await makeItems(fresh, "One");
    const refusal = { status: 404, message: `file ${UNUSED_ID} not found` };
    await expect(fresh.op.getFileById(fresh.vault, item!, UNUSED_ID)).rejects.toStrictEqual(refusal);
  });

  it("a deleted vault", async () => {
    const { op, vault, canonical } = await freshVault();
    await admin("DELETE", `vaults/${canonical}`);
    await expect(op.getVaultById(vault)).rejects.toStrictEqual({ status: 404, message: `vault ${vault} not found` });
  });

  it.each(["getItem", "getItemByTitle", "getItemOTP", "deleteItem", "deleteItemByTitle", "listFiles"] as const)(
    "a title that no Item has, with the message of the SDK: %s",
    async (method) => {
      const { op, vault } = one;
      const refusal = { status: 404, message: "No Items found with title" };
      await expect(op[method](vault, "None")).rejects.toStrictEqual(refusal);
    },
  );

  it.each(["getVault", "getVaultByTitle"] as const)(
    "a title that no vault has, with the message of the SDK: %s",
    async (method) => {
      const { op } = one;
      await expect(op[method]("None")).rejects.toStrictEqual({ status: 404, message: "No Vaults found with title" });
    },
  );
});
