import { OnePasswordConnect } from "@1password/connect";
import { describe, expect, inject, it } from "vitest";
import { freshVault, makeItems } from "./support/vault.ts";

/** The options of the SDK's client. */

describe("a client of the SDK", () => {
  it("with keepAlive sends 20 concurrent requests that write and read", async () => {
    const { token, vault } = await freshVault();
    const op = OnePasswordConnect({ serverURL: inject("url"), token, keepAlive: true });
    const titles = Array.from({ length: 20 }, (_, at) => `Item ${at}`);
    await Promise.all(titles.map((title) => makeItems({ op, vault }, title)));
    const items = await Promise.all(titles.map((title) => op.getItem(vault, title)));
    expect(items.map(({ title }) => title)).toEqual(titles);
  });

  it("accepts the service's URL without a slash at the end", async () => {
    const { token, vault } = await freshVault();
    const op = OnePasswordConnect({ serverURL: new URL(inject("url")).origin, token });
    expect((await op.getVault(vault)).id).toBe(vault);
  });
});
