import type { Page } from "playwright-core";
import { describe, expect, inject, it } from "vitest";
import { makeToken, makeVault } from "../sdk/support/requests.ts";
import { checkLooks } from "./support/accessibility.ts";
import { injectFault } from "./support/faults.ts";
import { openPage } from "./support/page.ts";
import { expectProblem } from "./support/problems.ts";
import { login, makeItems, seed } from "./support/seed.ts";
import { signIn, signInLink } from "./support/session.ts";

/** What a person meets in a day with the console. */

const focused = (page: Page): Promise<string> =>
  page.evaluate("(document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent).trim()");
const search = (page: Page) => page.getByRole("searchbox", { name: "Search items" });

describe("the focus", () => {
  it("is in the view after the message of a link and a message were dismissed, and / leads to the search from everywhere", async () => {
    const { token, vault, items } = await seed([login("Grafana")]);
    const page = await openPage();
    await page.goto(await signInLink(token));
    const dismiss = page.getByRole("button", { name: "Dismiss" });
    await dismiss.focus();
    await page.keyboard.press("Enter");
    await dismiss.waitFor({ state: "detached" });
    expect(await focused(page)).toBe("Search items");
    await page.goto(`/console/#/items/${vault}/${items[0]}`);
    await page.getByRole("button", { name: "Favorite" }).click();
    await dismiss.focus();
    await page.keyboard.press("Enter");
    await dismiss.waitFor({ state: "detached" });
    expect(await page.evaluate("document.activeElement === document.body")).toBe(false);
    await page.getByRole("heading", { name: "Grafana" }).focus();
    await page.keyboard.press("/");
    expect(await focused(page)).toBe("Search items");
    await page.keyboard.type("a/b");
    expect(await search(page).inputValue()).toBe("a/b");
    await page.goto("/console/#/health");
    await page.getByRole("heading", { name: "Health" }).waitFor();
    await page.keyboard.press("/");
    await page.getByRole("dialog", { name: "Search" }).waitFor();
  });

  it("moves through a menu by the arrow keys", async () => {
    const { token, vault, items } = await seed([login("Grafana")]);
    const page = await openPage({ token });
    await page.goto(`/console/#/items/${vault}/${items[0]}`);
    await page.locator(".rows").getByRole("link", { name: "Grafana" }).waitFor(); // The vaults to which the Item can be moved are known then.
    await page.getByRole("button", { name: "More actions", exact: true }).press("Enter");
    const labels = await page.locator(":popover-open button").allTextContents();
    for (const [key, index] of [
      ["ArrowDown", 1],
      ["ArrowUp", 0],
      ["ArrowUp", labels.length - 1],
      ["Home", 0],
      ["End", labels.length - 1],
    ] as const) {
      await page.keyboard.press(key);
      expect(await focused(page)).toBe(labels[index]);
    }
  });
});

describe("an Item", () => {
  it("that could not be opened without a network is opened when the network is back", async () => {
    const { token, vault, items } = await seed([login("Grafana")]);
    const page = await openPage({ token, fresh: true });
    expectProblem(page, /ERR_INTERNET_DISCONNECTED|Failed to fetch|network/i);
    await page.goto("/console/");
    await page.locator(".rows").getByRole("link", { name: "Grafana" }).waitFor();
    await page.context().setOffline(true);
    await page.goto(`/console/#/items/${vault}/${items[0]}`);
    await page.getByRole("button", { name: "Try again" }).waitFor();
    await page.context().setOffline(false);
    await page.getByRole("heading", { name: "Grafana" }).waitFor();
  });

  it("names the tab while it is open", async () => {
    const { token, vault, items } = await seed([login("Grafana\u202e")]);
    const page = await openPage({ token });
    await page.goto(`/console/#/items/${vault}/${items[0]}`);
    await expect.poll(() => page.title()).toBe("Grafana[U+202E] · Item Vault");
    await page.goto("/console/#/items");
    await expect.poll(() => page.title()).toBe("Items · Item Vault");
  });

  it("opens by Enter that was pressed before the list was there", async () => {
    const { token } = await seed([login("Grafana"), login("Mail")]);
    const page = await openPage({ token });
    const { end } = await injectFault(page, "GET", "/v1/vaults/*/items", "held");
    await page.goto("/console/");
    await search(page).fill("mail");
    await search(page).press("Enter");
    end();
    await page.getByRole("heading", { name: "Mail" }).waitFor();
    expect(await search(page).inputValue()).toBe("mail");
  });

  it("that was saved is shown in the list, also where the search had excluded it, and begins in the vault that was used last", async () => {
    const [first, used] = [await makeVault("A first"), await makeVault("Used")];
    const { token } = await makeToken({ [first]: "rw", [used]: "rw" }, "uuid");
    await makeItems(token, used, [login("Grafana")]);
    const page = await openPage({ token });
    await page.goto("/console/");
    await search(page).fill("grafana");
    await page.getByRole("button", { name: "New item" }).first().click();
    expect(await page.getByRole("combobox", { name: "Vault" }).inputValue()).toBe(used);
    await page.getByLabel("Title").fill("Another one");
    await page.getByRole("button", { name: "Save" }).click();
    await page.locator(".rows").getByRole("link", { name: "Another one" }).waitFor();
    expect(await search(page).inputValue()).toBe("");
  });

  it("that a token may list and not read has no link, and leads to no refusal", async () => {
    const { vault } = await seed([login("Only listed")]);
    const page = await openPage({ token: (await makeToken({ [vault]: "l" }, "uuid")).token });
    await page.goto("/console/");
    const row = page.locator(".rows").getByRole("link", { name: "Only listed" });
    await row.waitFor();
    expect([await row.getAttribute("href"), await row.getAttribute("aria-disabled")]).toEqual([null, "true"]);
    await row.press("Enter");
    await row.locator(".title").click();
    expect(new URL(page.url()).hash).toBe("");
    await page.keyboard.press("Control+k");
    await page.keyboard.type("only listed");
    await page.getByText("No results.").waitFor();
    await page.keyboard.press("Escape");
    expect(await checkLooks(page)).toBe("");
    for (const view of ["deleted", "import", "passwords", "activity", "health"]) {
      await page.goto(`/console/#/${view}`);
      await page.locator("main h1").first().waitFor();
      await expect.poll(() => page.getByText("Loading…").count()).toBe(0);
      expect([view, await page.locator(".failure").count()]).toEqual([view, 0]);
    }
  });
});

describe("an administrator", () => {
  it("begins each act from the palette, which stays in its place while it is typed into", async () => {
    const { token } = await seed();
    const page = await openPage();
    await signIn(page, token, inject("secrets").ADMIN_TOKEN);
    await page.goto("/console/#/items");
    await search(page).waitFor();
    await page.keyboard.press("Control+k");
    const field = page.getByRole("combobox", { name: "Search items and commands" });
    const top = async () => Math.round((await field.boundingBox())!.y);
    await field.waitFor();
    await expect.poll(top).toBe(await top());
    const before = await top();
    await page.keyboard.type("issue tok");
    expect(await top()).toBe(before);
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "Issue token" }).waitFor();
  });

  it("reads names in place of ids in its log, and chooses by them", async () => {
    const vault = await makeVault("Logged");
    await makeToken({ [vault]: "r" });
    const page = await openPage({ token: inject("secrets").ADMIN_TOKEN });
    await page.goto("/console/#/activity");
    // Entries follow within seconds.
    const made = page.getByRole("row", { name: /created the vault Logged/ });
    await expect
      .poll(
        async () => {
          await page.reload();
          await page
            .getByRole("row", { name: /issued the token test/ })
            .first()
            .waitFor();
          return made.count();
        },
        { timeout: 60_000 },
      )
      .toBeGreaterThan(0);
    const subjects = page.locator("td[data-label='What'] span[title]");
    const told = await subjects.evaluateAll((all) => all.map((one) => [one.getAttribute("title")!, one.textContent] as const));
    expect(told.filter(([id, text]) => id !== "" && text.includes(id.slice(0, 8)))).toEqual([]);
    const actors = await page
      .getByLabel("Who")
      .locator("option")
      .evaluateAll((all) => all.map((one) => [(one as HTMLOptionElement).value, one.textContent] as const));
    expect(actors.filter(([id, text]) => id !== "" && text === id.slice(0, 8))).toEqual([]);
  });

  it("uses a new vault one click after it was created", async () => {
    const { token } = await seed();
    const page = await openPage();
    await signIn(page, token, inject("secrets").ADMIN_TOKEN);
    await page.goto("/console/#/vaults");
    await page.getByRole("button", { name: "Create vault" }).click();
    await page.getByLabel("Name", { exact: true }).fill("Just created");
    await page.getByRole("dialog").getByRole("button", { name: "Create" }).click();
    await page.getByRole("button", { name: "Open it" }).click();
    await page.getByRole("navigation", { name: "Views" }).getByRole("link", { name: "Just created" }).waitFor();
    expect(await page.getByRole("dialog").count()).toBe(0);
  });
});

it("names are in the order of their numbers", async () => {
  const [ten, two] = [await makeVault("Team 10"), await makeVault("Team 2")];
  const { token } = await makeToken({ [ten]: "rw", [two]: "rw" }, "uuid");
  await makeItems(token, two, [{ title: "One", tags: ["tag 10", "tag 9"] }]);
  const page = await openPage({ token });
  await page.goto("/console/");
  const lists = page.getByRole("navigation", { name: "Views" });
  await lists.getByText("Tags").click();
  await lists.getByRole("link", { name: "tag 10" }).waitFor();
  const names = await lists.locator(".name").allInnerTexts();
  expect(names.filter((name) => /^(?:tag|Team)/.test(name))).toEqual(["Team 2", "Team 10", "tag 9", "tag 10"]);
});

describe("the page", () => {
  it("prints all rows of the list, and no hint", async () => {
    const { token } = await seed(Array.from({ length: 60 }, (_, number) => login(`Login ${number}`)));
    const page = await openPage({ token, fresh: true }); // It stays a page for print.
    await page.goto("/console/");
    await page.locator(".rows").getByRole("link", { name: "Login 0" }).waitFor();
    await page.emulateMedia({ media: "print" });
    await page.evaluate("dispatchEvent(new Event('beforeprint'))");
    const rows = page.locator(".rows a");
    await expect.poll(() => rows.count()).toBe(60);
    const tops = await rows.evaluateAll((all) => all.map((one) => one.getBoundingClientRect().top));
    expect(new Set(tops).size).toBe(60);
    expect(await page.getByText("Select an item to see it here.").isVisible()).toBe(false);
  });

  it("shows the count of the chosen list in the color of its name where the browser replaces the colors", async () => {
    const { token } = await seed([login("Grafana")]);
    const page = await openPage({ token, context: { forcedColors: "active" } });
    await page.goto("/console/");
    const chosen = page.locator(".sidebar a[aria-current]");
    await chosen.locator(".count").waitFor();
    const colors = await chosen.evaluate((link) =>
      [link, link.querySelector(".count")!].map((one) => getComputedStyle(one).color),
    );
    expect(colors[1]).toBe(colors[0]);
  });

  it("does not scroll sideways on a phone while the settings of a field are open", async () => {
    const { token, vault, items } = await seed([login("Grafana")]);
    const page = await openPage({ token, width: 390, height: 780 });
    await page.goto(`/console/#/items/${vault}/${items[0]}/edit`);
    await page.getByRole("button", { name: "Settings of username" }).click();
    const sizes = await page
      .locator("fieldset.settings")
      .evaluate((panel) => [panel.scrollWidth - panel.clientWidth, document.documentElement.scrollWidth - innerWidth]);
    expect(sizes).toEqual([0, 0]);
  });
});
