import { FieldPurpose, ItemBuilder, ItemCategory, type OPConnect } from "@1password/connect";
import { describe, expect, it } from "vitest";
import { admin, connect, freshVault, login, makeItems, makeToken, makeVault, UNUSED_ID } from "./support/vault.ts";

/** The SDK throws the body of an error response: an object with `status` and `message` and nothing else (contract 4.1). */

/** Two vaults, each with a token of its own. The first one has two Items of one title, which no test changes. */
const [one, two] = [await freshVault(), await freshVault()];
const twin = (await makeItems(one, "Twin", "Twin"))[0]!;

type Call = (op: OPConnect, vault: string, item: string) => Promise<unknown>;

const expectRefused = (call: Promise<unknown>, status: number, message: unknown) =>
  expect(call).rejects.toStrictEqual({ status, message });

/** Every method that takes a vault, or a vault and an Item, called with their ids. */
const OF_VAULTS: Readonly<Record<string, Call>> = {
  getVaultById: (op, vault) => op.getVaultById(vault),
  listItems: (op, vault) => op.listItems(vault),
  listItemsByTitle: (op, vault) => op.listItemsByTitle(vault, "Title"),
  listItemsByTitleContains: (op, vault) => op.listItemsByTitleContains(vault, "Title"),
  getItemByTitle: (op, vault) => op.getItemByTitle(vault, "Title"),
  createItem: (op, vault) => op.createItem(vault, login("Title")),
};
const OF_ITEMS: Readonly<Record<string, Call>> = {
  getItemById: (op, vault, item) => op.getItemById(vault, item),
  getItemOTP: (op, vault, item) => op.getItemOTP(vault, item),
  updateItem: (op, vault, item) => op.updateItem(vault, Object.assign(login("Title"), { id: item, vault: { id: vault } })),
  deleteItemById: (op, vault, item) => op.deleteItemById(vault, item),
  listFiles: (op, vault, item) => op.listFiles(vault, item),
  getFileById: (op, vault, item) => op.getFileById(vault, item, UNUSED_ID),
};
/** The methods whose endpoints answer 404 instead of 403 (contract 4.7). */
const LISTS = new Set(["listItems", "listItemsByTitle", "listItemsByTitleContains", "getItemByTitle", "listFiles"]);
const CALLS = { ...OF_VAULTS, ...OF_ITEMS };

const UNAUTHORIZED = [401, "Invalid token signature"] as const;

describe.each(Object.entries(CALLS))("%s throws", (name, call) => {
  it("a 401 for a token with an invalid signature", () =>
    expectRefused(call(connect(`${one.token.slice(0, -8)}AAAAAAAA`), one.vault, UNUSED_ID), ...UNAUTHORIZED));

  it("a 403, or a 404 for lists, for a vault that is not in the token", async () => {
    const { vault } = two;
    const [status, message] = LISTS.has(name) ? [404, `vault ${vault} not found`] : [403, `vault ${vault} is not in scope`];
    await expectRefused(call(one.op, vault, UNUSED_ID), status, message);
  });
});

it.each(Object.entries(OF_ITEMS))("%s throws a 404 for an Item that does not exist", (_, call) =>
  expectRefused(call(one.op, one.vault, UNUSED_ID), 404, `item ${UNUSED_ID} not found`),
);

it.each(["createItem", "updateItem", "deleteItemById"])("%s throws a 403 for a token of permission r", async (name) => {
  const { token } = await makeToken({ [one.canonical]: "r" });
  await expectRefused(CALLS[name]!(connect(token), one.vault, UNUSED_ID), 403, `the token may not write to vault ${one.vault}`);
});

const BY_TITLE = ["getItem", "getItemByTitle", "getItemOTP", "deleteItem", "deleteItemByTitle", "listFiles"] as const;
const MULTIPLE = (what: string) => `Found multiple ${what}s with given title. Provide a more specific ${what} title`;

describe.each(BY_TITLE)("%s throws in the words of the SDK", (method) => {
  it("a 404 for a title that no Item has", () =>
    expectRefused(one.op[method](one.vault, "None"), 404, "No Items found with title"));

  it("a 400 for a title that two Items have, and deletes neither", async () => {
    await expectRefused(one.op[method](one.vault, "Twin"), 400, MULTIPLE("Item"));
    expect(await one.op.listItems(one.vault)).toHaveLength(2);
  });
});

describe.each(["getVault", "getVaultByTitle"] as const)("%s throws in the words of the SDK", (method) => {
  it("a 404 for a title that no vault has", () => expectRefused(one.op[method]("None"), 404, "No Vaults found with title"));

  it("a 400 for a title that two vaults have", async () => {
    const { token } = await makeToken({ [await makeVault("Twin")]: "r", [await makeVault("twin")]: "r" });
    await expectRefused(connect(token)[method]("Twin"), 400, MULTIPLE("Vault"));
  });
});

const GENERATED = { generate: true, recipe: { length: 8, characterSets: ["DIGITS"], excludeCharacters: "0123456789" } };
const withFields = (...fields: object[]) => Object.assign(login("Title"), { fields });

describe("a refusal is thrown for", () => {
  it.each<[string, Call, number, unknown]>([
    ["a malformed token", () => connect("nonsense").listVaultsByTitle("Title"), ...UNAUTHORIZED],
    [
      "an unknown category",
      (op, vault) => op.createItem(vault, Object.assign(login("Title"), { category: "SANDWICH" })),
      400,
      "Invalid item category",
    ],
    [
      "a PASSWORD Item without a password field",
      (op, vault) => op.createItem(vault, new ItemBuilder().setCategory(ItemCategory.Password).build()),
      400,
      "The item doesn't have a password field.",
    ],
    [
      "an Item without its vault: updateItem (createItem adds the vault)",
      (op, vault, item) => op.updateItem(vault, Object.assign(login("Title"), { id: item })),
      400,
      "The item doesn't have a vault field.",
    ],
    [
      "a recipe that leaves no character",
      (op, vault) => op.createItem(vault, withFields({ ...GENERATED, purpose: FieldPurpose.Password })),
      400,
      expect.stringContaining("fields[0].recipe"),
    ],
    ["a malformed id of an Item: getItemById", (op, vault) => op.getItemById(vault, "nonsense"), 400, "Invalid Item UUID"],
    ["a malformed id of an Item: deleteItemById", (op, vault) => op.deleteItemById(vault, "nonsense"), 400, "Invalid Item UUID"],
    ["a malformed id of a vault: getItemById", (op) => op.getItemById("nonsense", UNUSED_ID), 400, "Invalid Vault UUID"],
    ["a malformed id of a vault: deleteItemById", (op) => op.deleteItemById("nonsense", UNUSED_ID), 400, "Invalid Vault UUID"],
    [
      "a File that does not exist",
      (op, vault, item) => op.getFileById(vault, item, UNUSED_ID),
      404,
      `file ${UNUSED_ID} not found`,
    ],
  ])("%s, and nothing is created", async (_, call, status, message) => {
    await expectRefused(call(one.op, one.vault, twin), status, message);
    expect(await one.op.listItems(one.vault)).toHaveLength(2);
  });

  it("a revoked token, and a deleted vault", async () => {
    const { op, tokenId } = await freshVault();
    await admin("DELETE", `tokens/${tokenId}`);
    await expectRefused(op.listVaults(), ...UNAUTHORIZED);
    const gone = await freshVault();
    await admin("DELETE", `vaults/${gone.canonical}`);
    await expectRefused(gone.op.getVaultById(gone.vault), 404, `vault ${gone.vault} not found`);
  });
});
