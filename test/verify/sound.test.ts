import { describe, expect, it } from "vitest";
import { newStages, rewrapAll } from "../support/root-keys.ts";
import { makeToken } from "../support/service.ts";
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

  it("has no finding for a token whose signing key was removed after a rotation", async () => {
    await makeToken({});
    const { active, removed, leaked } = await newStages();
    await rewrapAll(active);
    for (const bindings of [removed, leaked]) {
      const { findings } = await verifyAll({}, bindings);
      expect(findings.filter(({ table }) => table === "tokens")).toEqual([]);
    }
  });
});
