import type { Vault } from "@1password/connect";
import { describe, expect, it } from "vitest";
import { SHORT_ID, TITLES } from "./support/titles.ts";
import { connect, freshVault, makeItems, makeToken, makeVault } from "./support/vault.ts";

async function clientOfTwoVaults(first: string, second: string) {
  const ids = [await makeVault(first), await makeVault(second)] as const;
  const { token } = await makeToken({ [ids[0]]: "r", [ids[1]]: "r" });
  return connect(token);
}

const namesOf = (vaults: readonly Vault[]) => vaults.map(({ name }) => name!).toSorted();

describe("listVaults", () => {
  it("returns the vaults that the token may read, and no others", async () => {
    await makeVault("Elsewhere");
    const op = await clientOfTwoVaults("A", "B");
    expect(namesOf(await op.listVaults())).toEqual(["A", "B"]);
  });

  it("returns all attributes of a vault", async () => {
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

describe("a vault is returned", () => {
  it.each(["getVault", "getVaultById"] as const)("for its id: %s", async (method) => {
    const { op, vault } = await freshVault("Mine");
    expect(await op[method](vault)).toEqual((await op.listVaults())[0]);
  });

  it.each(["getVault", "getVaultByTitle"] as const)("for its title: %s", async (method) => {
    const op = await clientOfTwoVaults("Mine", "Mine too");
    const mine = (await op.listVaults()).find(({ name }) => name === "Mine");
    expect(await op[method]("Mine")).toEqual(mine);
  });

  it("for its title in another case", async () => {
    const { op, vault } = await freshVault("Straße Ä");
    expect((await op.getVaultByTitle("STRAßE ä")).id).toBe(vault);
  });

  it.each(TITLES)("for the title %j", async (title) => {
    const op = await clientOfTwoVaults(title, `${title}!`);
    expect((await op.getVaultByTitle(title)).name).toBe(title);
  });
});

describe("listVaultsByTitle", () => {
  it("returns every vault with the title, and no others", async () => {
    const op = await clientOfTwoVaults("Twin", "Twin");
    expect(namesOf(await op.listVaultsByTitle("Twin"))).toEqual(["Twin", "Twin"]);
    expect(await op.listVaultsByTitle("Twi")).toEqual([]);
  });
});
