import type { Page } from "playwright-core";
import { afterAll, describe, expect, inject, it } from "vitest";
import { makeToken, makeVault, sendRequest } from "../sdk/support/requests.ts";
import { openPage } from "./support/page.ts";
import { login, makeItems } from "./support/seed.ts";
import { signIn } from "./support/session.ts";

/** What a person does each day, with the clicks and keys that it takes: never more than in the first edition of the console. */

interface Count {
  readonly clicks: number;
  readonly keys: number;
}

interface World {
  readonly page: Page;
  readonly token: string;
  readonly vault: string;
  readonly items: readonly string[];
}

interface Task {
  /** The most that it may take: what it took in the first edition, or less since then. */
  readonly before: Count;
  /** Signs in as the administrator too. */
  readonly admin?: true;
  /** The address where it begins; the list of Items otherwise. */
  readonly at?: (world: World) => string;
  readonly run: (world: World) => Promise<void>;
}

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const dialog = (page: Page) => page.getByRole("dialog");
const itemAt = ({ vault, items }: World) => `items/${vault}/${items[0]}`;
const open = async ({ page }: World): Promise<void> => page.getByRole("heading", { name: "Item 0" }).waitFor();

const TASKS: Readonly<Record<string, Task>> = {
  "find and copy a password": {
    before: { clicks: 0, keys: 9 },
    run: async ({ page }) => {
      await page.keyboard.type("item 7");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "Item 7" }).waitFor();
      await page.keyboard.press("p");
      await page.getByText("Password copied").waitFor();
    },
  },
  "copy a password by the pointer": {
    before: { clicks: 2, keys: 0 },
    run: async (world) => {
      await world.page.getByRole("list", { name: "Items" }).getByRole("link").first().click();
      await open(world);
      await world.page.locator("dt", { hasText: "password" }).first().click();
      await world.page.getByText("Password copied").waitFor();
    },
  },
  "make a login with a generated password": {
    before: { clicks: 4, keys: 28 },
    run: async ({ page }) => {
      await page.locator(".search").getByRole("button", { name: "New item" }).click();
      await page.getByLabel("Title").waitFor();
      await page.keyboard.type("GitHub");
      await page.keyboard.press("Tab");
      await page.keyboard.type("ada@example.com");
      await button(page, "Generate password").click();
      await dialog(page).getByRole("button", { name: /^Use/ }).click();
      await button(page, "Save").click();
      await page.getByRole("heading", { name: "GitHub" }).waitFor();
    },
  },
  "edit one field": {
    before: { clicks: 0, keys: 13 },
    at: itemAt,
    run: async (world) => {
      const { page } = world;
      await open(world);
      await page.keyboard.press("Tab");
      await page.keyboard.press("Enter");
      await page.getByLabel("Title").waitFor();
      await page.keyboard.press("Tab");
      await page.keyboard.type("new-user");
      await page.keyboard.press("Control+s");
      await page.locator(".toast", { hasText: "Saved" }).waitFor();
      await page.locator("article").getByText("new-user").waitFor();
    },
  },
  "rotate a password": {
    before: { clicks: 4, keys: 0 },
    at: itemAt,
    run: async ({ page }) => {
      await button(page, "More actions for password").click();
      await button(page, "Rotate").click();
      await dialog(page).getByRole("button", { name: "Copy new password" }).click();
      await button(page, "Done").click();
      await page.getByText("Password rotated").waitFor();
    },
  },
  "generate a password by another recipe": {
    before: { clicks: 4, keys: 0 },
    at: itemAt,
    run: async ({ page }) => {
      await page.getByRole("link", { name: "Edit", exact: true }).click();
      await button(page, "Generate password").click();
      await dialog(page).getByRole("button", { name: /^Use/ }).click();
      await button(page, "Save").click();
      await page.locator(".toast", { hasText: "Saved" }).waitFor();
    },
  },
  "restore the value of before": {
    before: { clicks: 3, keys: 0 },
    at: itemAt,
    run: async ({ page, token, vault, items }) => {
      const change = [{ op: "replace", path: "/fields/password/value", value: "changed" }];
      await sendRequest("PATCH", `v1/vaults/${vault}/items/${items[0]}`, token, change);
      await page.getByText("version 2").waitFor();
      await page.getByRole("tab", { name: "History" }).click();
      await button(page, "Version 1")
        .or(page.getByRole("button", { name: /^Version 1/ }))
        .first()
        .click();
      await button(page, "Restore password").click();
      await page.getByText("password restored from version 1").waitFor();
    },
  },
  "see who changed an Item": {
    before: { clicks: 1, keys: 0 },
    at: itemAt,
    run: async ({ page }) => page.getByText(/Changed .* by you/).waitFor(),
  },
  "delete an Item, and restore it": {
    before: { clicks: 6, keys: 0 },
    at: itemAt,
    run: async (world) => {
      const { page } = world;
      await button(page, "More actions").click();
      await button(page, "Delete…").click();
      await dialog(page).getByRole("button", { name: "Delete", exact: true }).click();
      await button(page, "Undo").click();
      await open(world);
      await page.locator(".toast", { hasText: "Restored" }).waitFor();
    },
  },
  "move 20 Items": {
    before: { clicks: 4, keys: 0 },
    run: async ({ page }) => {
      await page.getByRole("list", { name: "Items" }).locator(".tile").first().click();
      await page.getByText("1 item selected").waitFor();
      await page.mouse.wheel(0, 10_000);
      await page
        .locator(".rows a")
        .filter({ hasText: "Item 19" })
        .click({ modifiers: ["Shift"] });
      await button(page, "Move…").click();
      await dialog(page).getByRole("button", { name: "Move", exact: true }).click();
      await page.getByText("20 items moved").waitFor();
    },
  },
  "share a vault with a program": {
    before: { clicks: 6, keys: 2 },
    admin: true,
    run: async ({ page }) => {
      await page.getByRole("link", { name: "Tokens", exact: true }).click();
      await button(page, "Issue token").first().click();
      await dialog(page).getByLabel("Name", { exact: true }).waitFor();
      await page.keyboard.type("ci");
      await dialog(page).getByRole("checkbox", { name: "Read: From" }).first().click();
      await dialog(page).getByRole("button", { name: "Issue token" }).click();
      await button(page, "Copy token").click();
      await button(page, "Done").click();
    },
  },
  "make a vault, and use it": {
    before: { clicks: 5, keys: 3 },
    admin: true,
    run: async ({ page }) => {
      await page.getByRole("link", { name: "Vaults", exact: true }).click();
      await button(page, "Create vault").click();
      await dialog(page).getByLabel("Name", { exact: true }).waitFor();
      await page.keyboard.type("New");
      await dialog(page).getByRole("button", { name: "Create" }).click();
      await page.getByRole("rowheader", { name: "New", exact: true }).first().waitFor();
      await button(page, "Open more vaults").click();
      await dialog(page).getByRole("button", { name: "Open vaults" }).click();
      // The lists of a hundred vaults of this run are loaded first, and so many are folded up.
      const vault = page
        .getByRole("navigation", { name: "Views" })
        .getByRole("link", { name: "New", exact: true, includeHidden: true });
      await vault.waitFor({ state: "attached", timeout: 120_000 });
    },
  },
};

const counted: string[] = [];
afterAll(() => console.log(`Clicks and keys, before and now:\n${counted.join("\n")}`));

describe("a task takes no more clicks and keys than before:", () => {
  it.each(Object.entries(TASKS))("%s", async (name, { before, admin = false, at, run }) => {
    const [vault, other] = [await makeVault("From"), await makeVault("To")];
    const { token } = await makeToken({ [vault]: "rw", [other]: "rw" }, "uuid");
    const titles = Array.from({ length: 20 }, (_, index) => `Item ${index}`);
    const items = await makeItems(
      token,
      vault,
      titles.map((title) => login(title)),
    );
    const page = admin ? await openPage() : await openPage({ token });
    const world = { page, token, vault, items };
    if (admin) await signIn(page, token, inject("secrets").ADMIN_TOKEN);
    await page.goto(`/console/#/${at?.(world) ?? "items"}`);
    await page.getByRole("list", { name: "Items" }).getByRole("link").first().waitFor();
    await page.evaluate(() => {
      const count = { clicks: 0, keys: 0 };
      Object.assign(globalThis, { count });
      // A key that presses a button makes a click without a place.
      addEventListener("click", ({ isTrusted, detail }) => void (count.clicks += isTrusted && detail > 0 ? 1 : 0), true);
      // The function is sent to the page as a whole.
      // oxlint-disable-next-line unicorn/consistent-function-scoping
      const isCounted = ({ isTrusted, key }: KeyboardEvent) => isTrusted && !["Shift", "Control"].includes(key);
      addEventListener("keydown", (event) => void (count.keys += isCounted(event) ? 1 : 0), true);
    });
    await run(world);
    const now = await page.evaluate<Count>("count");
    counted.push(`${name}: ${before.clicks} clicks, ${before.keys} keys; ${now.clicks} clicks, ${now.keys} keys`);
    expect([now.clicks <= before.clicks, now.keys <= before.keys, now]).toEqual([true, true, now]);
    expect(now.clicks + now.keys).toBeGreaterThan(name.startsWith("see who") ? -1 : 0);
  });
});
