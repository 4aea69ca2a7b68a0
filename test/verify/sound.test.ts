import { describe, expect, it } from "vitest";
import { plantVault } from "./support/vault.ts";
import { verifyAll } from "./support/verify.ts";

describe("a sound database", () => {
  it("has no finding, and everything of it is checked", async () => {
    const { vault } = await plantVault();
    const run = await verifyAll({ vault });
    expect(run.findings).toEqual([]);
    expect(run.checked).toMatchObject({ items: 3, contents: 4 });
    expect((await verifyAll()).findings).toEqual([]);
  });
});
