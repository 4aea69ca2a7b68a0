import type { Vault } from "@1password/connect";
import { describe, expect, it } from "vitest";
import { connect, freshVault, makeItems, makeToken, makeVault } from "./support/vault.ts";
import { SHORT_ID, TITLES } from "./support/titles.ts";

/** Two vaults, the first of which has the name, and the SDK with a token for both. */
async function twoVaults(first: string, second: string) {
  const ids = [await makeVault(first), await makeVault(second)] as const;
  const { token } = await makeToken({ [ids[0]]: "r", [ids[1]]: "r" });
  return connect(token);
}

const namesOf = (vaults: readonly Vault[]) => vaults.map(({ name }) => name!).toSorted();

describe("listVaults", () => {
  it("lists the vaults that the token reads, and no other", async () => {
    await makeVault("Elsewhere");
    const op = await twoVaults("A", "B");
    expect(namesOf(await op.listVaults())).toEqual(["A", "B"]);
  });

  it("gives all that the SDK knows of a vault", async () => {
    const fresh = await freshVault("Mine");
    await makeItems(fresh, "One", "Two");
    expect(await fresh.op.listVaults()).toEqual([
      {
        id: expect.stringMatching(SHORT_ID),
        name: "Mine",
        description: "",
        attributeVersion: 1,
        contentVersion: 2,
        items: 2,
        type: "USER_CREATED",
        createdAt: expect.any(Date),
        updatedAt: expect.any(Date),
      },
    ]);
  });
});

describe("a vault is got", () => {
  it.each(["getVault", "getVaultById"] as const)("by its id: %s", async (method) => {
    const { op, vault } = await freshVault("Mine");
    expect(await op[method](vault)).toEqual((await op.listVaults())[0]);
  });

  it.each(["getVault", "getVaultByTitle"] as const)("by its title: %s", async (method) => {
    const op = await twoVaults("Mine", "Mine too");
    const mine = (await op.listVaults()).find(({ name }) => name === "Mine");
    expect(await op[method]("Mine")).toEqual(mine);
  });

  it("by its title in another case", async () => {
    const { op, vault } = await freshVault("Straße Ä");
    expect((await op.getVaultByTitle("STRAßE ä")).id).toBe(vault);
  });

  it.each(TITLES)("by the title %j", async (title) => {
    const op = await twoVaults(title, `${title}!`);
    expect((await op.getVaultByTitle(title)).name).toBe(title);
  });
});

describe("listVaultsByTitle", () => {
  it("lists every vault of that title", async () => {
    const op = await twoVaults("Twin", "Twin");
    expect(namesOf(await op.listVaultsByTitle("Twin"))).toEqual(["Twin", "Twin"]);
  });

  it("is empty when there is none", async () => {
    const { op } = await freshVault("Mine");
    expect(await op.listVaultsByTitle("Min")).toEqual([]);
  });
});
