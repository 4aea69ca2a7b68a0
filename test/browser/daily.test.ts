import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { makeToken, makeVault } from "../sdk/support/requests.ts";
import { checkLooks } from "./support/accessibility.ts";
import {
  button,
  confirm,
  dialogOf,
  fill,
  focused,
  heading,
  listed,
  openAsBoth,
  openItem,
  openList,
  openView,
  press,
  saveTitle,
  see,
  views,
} from "./support/console.ts";
import { injectFault } from "./support/faults.ts";
import { openPage } from "./support/page.ts";
import { expectProblem } from "./support/problems.ts";
import { login, makeItems, seed } from "./support/seed.ts";
import { signInLink } from "./support/session.ts";

/** What a person meets in a day with the console. */

const search = (page: Page) => page.getByRole("searchbox", { name: "Search items" });

describe("the focus", () => {
  it("is in the view after the message of a link and a message were dismissed, and / leads to the search from everywhere", async () => {
    const { token, vault, items } = await seed([login("Grafana")]);
    const page = await openPage();
    const dismiss = async () => {
      await button(page, "Dismiss").press("Enter");
      await button(page, "Dismiss").waitFor({ state: "detached" });
    };
    await page.goto(await signInLink(token));
    await dismiss();
    expect(await focused(page)).toBe("Search items");
    await page.goto(`/console/#/items/${vault}/${items[0]}`);
    await press(page, "Favorite");
    await dismiss();
    expect(await page.evaluate("document.activeElement === document.body")).toBe(false);
    await heading(page, "Grafana").focus();
    await page.keyboard.press("/");
    expect(await focused(page)).toBe("Search items");
    await page.keyboard.type("a/b");
    expect(await search(page).inputValue()).toBe("a/b");
    await page.goto("/console/#/health");
    await heading(page, "Health").waitFor();
    await page.keyboard.press("/");
    await dialogOf(page, "Search").waitFor();
  });

  it("moves through a menu by the arrow keys", async () => {
    const { page } = await openItem([login("Grafana")]);
    await listed(page, "Grafana").waitFor(); // The vaults to which the Item can be moved are known then.
    await button(page, "More actions").press("Enter");
    const labels = await page.locator(":popover-open button").allTextContents();
    for (const [key, index] of [
      ["ArrowDown", 1],
      ["ArrowUp", 0],
      ["ArrowUp", -1],
      ["Home", 0],
      ["End", -1],
    ] as const) {
      await page.keyboard.press(key);
      expect(await focused(page)).toBe(labels.at(index));
    }
  });
});

describe("an Item", () => {
  it("that could not be opened without a network is opened when the network is back", async () => {
    const { page, address } = await openList([login("Grafana")], { fresh: true });
    expectProblem(page, /ERR_INTERNET_DISCONNECTED|Failed to fetch|network/i);
    await page.context().setOffline(true);
    await page.goto(address);
    await button(page, "Try again").waitFor();
    await page.context().setOffline(false);
    await heading(page, "Grafana").waitFor();
  });

  it("names the tab while it is open", async () => {
    const { page, vault, items } = await openList([login("Other"), login("Grafana\u202e")]);
    await page.goto(`/console/#/items/${vault}/${items[1]}`);
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
    await heading(page, "Mail").waitFor();
    expect(await search(page).inputValue()).toBe("mail");
  });

  it("that was saved is shown in the list, also where the search had excluded it, and begins in the vault that was used last", async () => {
    const [first, used] = [await makeVault("A first"), await makeVault("Used")];
    const { token } = await makeToken({ [first]: "rw", [used]: "rw" }, "uuid");
    await makeItems(token, used, [login("Grafana")]);
    const page = await openView("items", { token });
    await search(page).fill("grafana");
    await button(page, "New item").first().click();
    expect(await page.getByRole("combobox", { name: "Vault" }).inputValue()).toBe(used);
    await saveTitle(page, "Another one");
    await listed(page, "Another one").waitFor();
    expect(await search(page).inputValue()).toBe("");
  });

  it("that a token may list and not read is found by its title, and a click, Enter or the search says why it does not open", async () => {
    const { page } = await openList([login("Only listed")], { permission: "l" });
    const row = listed(page, "Only listed");
    const told = page.locator(".toast", { hasText: "You can list this item, but not read it." });
    for (const act of [
      () => row.locator(".title").click(),
      () => row.press("Enter"),
      async () => {
        await page.keyboard.press("Control+k");
        await page.keyboard.type("only listed");
        await see(dialogOf(page), /^No read access/);
        await page.keyboard.press("Enter");
      },
    ]) {
      await act();
      await told.waitFor();
      expect(await dialogOf(page).count()).toBe(0);
      await press(page, "Dismiss");
      await told.waitFor({ state: "detached" });
    }
    await row.locator(".tile").click();
    await see(page, "1 item selected");
    expect(await told.count()).toBe(0);
  });

  it("that a token may list and not read has no link, and leads to no refusal", async () => {
    const { page } = await openList([login("Only listed")], { permission: "l" });
    const row = listed(page, "Only listed");
    expect([await row.getAttribute("href"), await row.getAttribute("aria-disabled")]).toEqual([null, "true"]);
    await row.press("Enter");
    await row.locator(".title").click();
    expect(new URL(page.url()).hash).toBe("");
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
    const page = await openAsBoth((await seed()).token, "items");
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
    await dialogOf(page, "Issue token").waitFor();
  });

  it("reads names in place of ids in its log, and chooses by them", async () => {
    const vault = await makeVault("Logged");
    await makeToken({ [vault]: "r" });
    const page = await openView("activity");
    const rowOf = (name: RegExp) => page.getByRole("row", { name });
    // Entries follow within seconds.
    const count = async () => {
      await page.reload();
      await rowOf(/issued the token test/)
        .first()
        .waitFor();
      return rowOf(/created the vault Logged/).count();
    };
    await expect.poll(count, { timeout: 60_000 }).toBeGreaterThan(0);
    const subjects = page.locator("td[data-label='What'] span[title]");
    const told = await subjects.evaluateAll((all) => all.map((one) => [one.getAttribute("title")!, one.textContent] as const));
    expect(told.filter(([id, text]) => id !== "" && text.includes(id.slice(0, 8)))).toEqual([]);
    const options = page.getByLabel("Who").locator("option");
    const actors = await options.evaluateAll((all) =>
      all.map((one) => [(one as HTMLOptionElement).value, one.textContent] as const),
    );
    expect(actors.filter(([id, text]) => id !== "" && text === id.slice(0, 8))).toEqual([]);
  });

  it("uses a new vault one click after it was created", async () => {
    const page = await openAsBoth((await seed()).token, "vaults");
    await press(page, "Create vault");
    await fill(dialogOf(page), { Name: "Just created" });
    await confirm(page, /^Create/);
    await press(page, "Open it");
    await views(page).getByRole("link", { name: "Just created" }).waitFor();
    expect(await dialogOf(page).count()).toBe(0);
  });
});

it("names are in the order of their numbers", async () => {
  const [ten, two] = [await makeVault("Team 10"), await makeVault("Team 2")];
  const { token } = await makeToken({ [ten]: "rw", [two]: "rw" }, "uuid");
  await makeItems(token, two, [{ title: "One", tags: ["tag 10", "tag 9"] }]);
  const page = await openView("items", { token });
  await views(page).getByText("Tags").click();
  await views(page).getByRole("link", { name: "tag 10" }).waitFor();
  const names = await views(page).locator(".name").allInnerTexts();
  expect(names.filter((name) => /^(?:tag|Team)/.test(name))).toEqual(["Team 2", "Team 10", "tag 9", "tag 10"]);
});

describe("the page", () => {
  it("prints all rows of the list, and no hint", async () => {
    const logins = Array.from({ length: 60 }, (_, number) => login(`Login ${number}`));
    const { page } = await openList(logins, { fresh: true }); // It stays a page for print.
    await page.emulateMedia({ media: "print" });
    await page.evaluate("dispatchEvent(new Event('beforeprint'))");
    await expect.poll(() => listed(page).count()).toBe(60);
    const tops = await listed(page).evaluateAll((all) => all.map((one) => one.getBoundingClientRect().top));
    expect(new Set(tops).size).toBe(60);
    expect(await page.getByText("Select an item to see it here.").isVisible()).toBe(false);
  });

  it("shows the count of the chosen list in the color of its name where the browser replaces the colors", async () => {
    const { page } = await openList([login("Grafana")], { context: { forcedColors: "active" } });
    const chosen = page.locator(".sidebar a[aria-current]");
    await chosen.locator(".count").waitFor();
    const [name, count] = await chosen.evaluate((link) =>
      [link, link.querySelector(".count")!].map((one) => getComputedStyle(one).color),
    );
    expect(count).toBe(name);
  });

  it("does not scroll sideways on a phone while the settings of a field are open", async () => {
    const { page } = await openItem([login("Grafana")], { tab: "edit", width: 390, height: 780 });
    await press(page, "Settings of username");
    const panel = page.locator("fieldset.settings");
    const sizes = await panel.evaluate((one) => [
      one.scrollWidth - one.clientWidth,
      document.documentElement.scrollWidth - innerWidth,
    ]);
    expect(sizes).toEqual([0, 0]);
  });
});
