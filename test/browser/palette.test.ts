import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { readClipboard } from "./support/clipboard.ts";
import { dialogOf, endedDialog, heading, listed, openList, openView, pressKeys, see } from "./support/console.ts";
import { revokeToken } from "./support/faults.ts";
import { expectProblem } from "./support/problems.ts";
import { login, type Seeded, seed } from "./support/seed.ts";

/** The palette, and the keys. */

let seeded: Seeded;
beforeAll(async () => {
  seeded = await seed([login("Grafana", { password: "copied-by-name" }), login("Tokens of the bank")], { name: "Team" });
});

const field = (page: Page) => page.getByRole("combobox", { name: "Search items and commands" });
const options = (page: Page) => page.locator(".results .name").allInnerTexts();
const chosen = (page: Page) => page.locator("[aria-selected=true] .name").innerText();
const openAt = (view: string) => openView(view, { token: seeded.token });

/** Opens the palette and types. */
async function find(page: Page, query: string): Promise<void> {
  await page.keyboard.press("Control+k");
  await page.keyboard.type(query);
  await expect.poll(() => field(page).inputValue()).toBe(query);
}

describe("the palette", () => {
  it("opens an Item, a view, a list and a form by their names, from every view", async () => {
    const page = await openAt("activity");
    for (const [query, title] of [
      ["graf", "Grafana"],
      ["health", "Health"],
      ["new item", "New item"],
      ["deleted", "Deleted items"],
    ] as const) {
      await find(page, query);
      await page.locator(".results [role=option]").first().waitFor();
      await page.keyboard.press("Enter");
      await heading(page, title).waitFor();
    }
    expect(page.url()).toContain("#/deleted");
    await find(page, "team");
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: /^Team/ }).and(page.locator("[aria-current]")).waitFor();
  });

  it("finds Items first, and the arrow keys choose among all", async () => {
    const page = await openAt("health");
    await find(page, "tokens");
    await expect.poll(() => options(page)).toEqual(["Tokens of the bank"]); // this session may not open the view of tokens
    await field(page).fill("");
    const all = await options(page);
    await pressKeys(page, "ArrowDown");
    await expect.poll(() => chosen(page)).toBe(all[1]);
    await pressKeys(page, "ArrowUp", "ArrowUp");
    await expect.poll(() => chosen(page)).toBe(all.at(-1));
    await pressKeys(page, "Escape");
    await field(page).waitFor({ state: "detached" });
  });

  it("copies a value of the open Item", async () => {
    const page = await openAt(`items/${seeded.vault}/${seeded.items[0]}`);
    await heading(page, "Grafana").waitFor();
    await find(page, "copy password");
    await page.keyboard.press("Enter");
    await see(page, "Password copied");
    expect(await readClipboard(page)).toBe("copied-by-name");
  });

  it("opens the views of the administrator in a session without vaults", async () => {
    const page = await openView("vaults");
    await find(page, "tok");
    await page.keyboard.press("Enter");
    await heading(page, "Tokens").waitFor();
    expect(page.url()).toContain("#/tokens");
  });

  it("closes when the session ends", async () => {
    const { page, tokenId } = await openList([login("Seen by nobody else")]);
    expectProblem(page, /401/);
    await find(page, "seen");
    await revokeToken(tokenId);
    await page.evaluate(`fetch("/v1/token", { headers: { "Item-Vault-Console": "1" } })`);
    await page.evaluate("dispatchEvent(new Event('focus'))");
    await endedDialog(page).waitFor();
    expect(await listed(page, "Seen by nobody else").isVisible()).toBe(false);
  });

  it("leaves a question mark to the field that is typed in", async () => {
    const page = await openAt("items");
    const search = page.getByRole("searchbox", { name: "Search items" });
    await search.fill("");
    await page.keyboard.type("who?");
    expect(await search.inputValue()).toBe("who?");
    expect(await dialogOf(page).count()).toBe(0);
  });
});
