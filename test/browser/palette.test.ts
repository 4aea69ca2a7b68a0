import type { Page } from "playwright-core";
import { beforeAll, describe, expect, inject, it } from "vitest";
import { checkLooks } from "./support/accessibility.ts";
import { readClipboard } from "./support/clipboard.ts";
import { revokeToken } from "./support/faults.ts";
import { openPage } from "./support/page.ts";
import { expectProblem } from "./support/problems.ts";
import { login, type Seeded, seed } from "./support/seed.ts";

/** The palette, and the keys. */

let seeded: Seeded;
beforeAll(async () => {
  seeded = await seed([login("Grafana", { password: "copied-by-name" }), login("Tokens of the bank")], { name: "Team" });
});

const field = (page: Page) => page.getByRole("combobox", { name: "Search items and commands" });
const options = (page: Page) => page.locator(".results .name").allInnerTexts();

async function openAt(address: string): Promise<Page> {
  const page = await openPage({ token: seeded.token });
  await page.goto(`/console/#/${address}`);
  await page.getByRole("heading", { level: 1 }).first().waitFor({ state: "attached" });
  return page;
}

/** Opens the palette and types. */
async function find(page: Page, query: string): Promise<void> {
  await page.keyboard.press("Control+k");
  await page.keyboard.type(query);
  await expect.poll(() => field(page).inputValue()).toBe(query);
}

describe("the palette", () => {
  it("opens an Item, a view, a list and a form by their names, from every view", async () => {
    const page = await openAt("activity");
    for (const [query, heading] of [
      ["graf", "Grafana"],
      ["health", "Health"],
      ["new item", "New item"],
      ["deleted", "Deleted items"],
    ] as const) {
      await find(page, query);
      await page.locator(".results [role=option]").first().waitFor();
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: heading }).waitFor();
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
    const first = (await options(page))[1]!;
    await page.keyboard.press("ArrowDown");
    await expect.poll(() => page.locator("[aria-selected=true] .name").innerText()).toBe(first);
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("ArrowUp");
    await expect.poll(() => page.locator("[aria-selected=true] .name").innerText()).toBe((await options(page)).at(-1));
    await page.keyboard.press("Escape");
    await field(page).waitFor({ state: "detached" });
  });

  it("copies a value of the open Item", async () => {
    const page = await openAt(`items/${seeded.vault}/${seeded.items[0]}`);
    await page.getByRole("heading", { name: "Grafana" }).waitFor();
    await find(page, "copy password");
    await page.keyboard.press("Enter");
    await page.getByText("Password copied").waitFor();
    expect(await readClipboard(page)).toBe("copied-by-name");
  });

  it("opens the views of the administrator in a session without vaults", async () => {
    const page = await openPage({ token: inject("secrets").ADMIN_TOKEN });
    await page.goto("/console/");
    await page.getByRole("heading", { name: "Vaults" }).waitFor();
    await find(page, "tok");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Tokens" }).waitFor();
    expect(page.url()).toContain("#/tokens");
  });

  it("and the keys have no violation of accessibility, light and dark, wide and narrow", async () => {
    const page = await openAt("items");
    await find(page, "g");
    expect(await checkLooks(page)).toBe("");
    await page.keyboard.press("Escape");
    await page.goto("/console/#/health");
    await page.getByRole("heading", { name: "Health" }).waitFor();
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
    expect(await checkLooks(page)).toBe("");
  });

  it("closes when the session ends", async () => {
    const own = await seed([login("Seen by nobody else")]);
    const page = await openPage({ token: own.token });
    expectProblem(page, /401/);
    await page.goto("/console/");
    await page.locator(".rows").getByRole("link", { name: "Seen by nobody else" }).waitFor();
    await find(page, "seen");
    await revokeToken(own.tokenId);
    await page.evaluate(`fetch("/v1/token", { headers: { "Item-Vault-Console": "1" } })`);
    await page.evaluate("dispatchEvent(new Event('focus'))");
    await page.getByRole("dialog", { name: "Your session has ended" }).waitFor({ timeout: 120_000 });
    expect(await page.getByText("Seen by nobody else").filter({ visible: true }).count()).toBe(0);
  });

  it("leaves a question mark to the field that is typed in", async () => {
    const page = await openAt("items");
    await page.getByRole("searchbox", { name: "Search items" }).fill("");
    await page.keyboard.type("who?");
    expect(await page.getByRole("searchbox", { name: "Search items" }).inputValue()).toBe("who?");
    expect(await page.getByRole("dialog").count()).toBe(0);
  });
});
