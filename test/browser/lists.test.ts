import type { Page } from "playwright-core";
import { describe, expect, inject, it } from "vitest";
import { admin, makeToken, makeVault, sendRequest } from "../sdk/support/requests.ts";
import { checkLooks } from "./support/accessibility.ts";
import { readClipboard } from "./support/clipboard.ts";
import { confirm, heading, listed, openItem, openList, press, see, titleField, views as lists } from "./support/console.ts";
import { coveredButtons } from "./support/layout.ts";
import { openPage, type PageOptions } from "./support/page.ts";
import { login, makeItems, seed } from "./support/seed.ts";
import { signOut } from "./support/session.ts";

/** The lists of Items, the navigation on a phone, and what a click on a value does. */

const openMenu = (page: Page) => press(page, /^Account/);
const titles = (page: Page) => page.getByRole("list", { name: "Items" }).locator(".title").allInnerTexts();

/** Two vaults with five Items, one of them a favorite and one in the archive. */
async function openLists(options: PageOptions = {}) {
  const [team, home] = [await makeVault("Team"), await makeVault("Home")];
  const { token } = await makeToken({ [team]: "rw", [home]: "rw" }, "uuid");
  const [star] = await makeItems(token, team, [{ ...login("Server 10"), tags: ["production"], category: "SERVER" }]);
  await makeItems(token, team, [{ ...login("Server 9"), tags: ["production", "old"], category: "SERVER" }]);
  const [archived] = await makeItems(token, team, [login("Archived")]);
  await makeItems(token, home, [login("Apple")]);
  await makeItems(token, home, [login("Zebra")]);
  await sendRequest("PATCH", `v1/vaults/${team}/items/${star}`, token, [{ op: "replace", path: "/favorite", value: true }]);
  await sendRequest("POST", `v1/vaults/${team}/items/${archived}/archive`, token);
  const page = await openPage({ token, ...options });
  await page.goto("/console/");
  await page.getByRole("list", { name: "Items" }).getByRole("link").first().waitFor();
  return { page, token, team, home, star: star! };
}

describe("the lists of Items", () => {
  it("are all Items, favourites, the archive, and one for each vault, tag and category, with their numbers", async () => {
    const { page } = await openLists();
    for (const group of ["Tags", "Categories"]) await lists(page).getByText(group, { exact: true }).click();
    for (const [name, shown] of [
      ["All items 4", ["Apple", "Server 9", "Server 10", "Zebra"]],
      ["Favorites 1", ["Server 10"]],
      ["Archive 1", ["Archived"]],
      ["Team 2", ["Server 9", "Server 10"]],
      ["Home 2", ["Apple", "Zebra"]],
      ["production 2", ["Server 9", "Server 10"]],
      ["old 1", ["Server 9"]],
      ["Login 2", ["Apple", "Zebra"]],
      ["Server 2", ["Server 9", "Server 10"]],
    ] as const) {
      await lists(page).getByRole("link", { name, exact: true }).click();
      await expect.poll(() => titles(page), { message: name }).toEqual(shown);
    }
    expect(await checkLooks(page)).toBe("");
  });

  it("are in the order of their titles with numbers as numbers, or of their changes, or of their creation", async () => {
    const { page } = await openLists();
    const order = async (name: string, ...expected: string[]) => {
      await press(page, /^Order/, name);
      await expect.poll(() => titles(page)).toEqual(expected);
    };
    await order("Newest first", "Zebra", "Apple", "Server 9", "Server 10");
    await order("Last changed first", "Server 10", "Zebra", "Apple", "Server 9");
    await listed(page, "Zebra").click();
    await press(page, "Favorite");
    await expect.poll(() => titles(page)).toEqual(["Zebra", "Server 10", "Apple", "Server 9"]);
    await lists(page).getByRole("link", { name: "Recent" }).click();
    await order("Alphabetical", "Zebra", "Server 10", "Apple", "Server 9");
  });

  it("that are chosen with Ctrl open in another tab, and do not change this page", async () => {
    const { page } = await openLists();
    const opened = page.context().waitForEvent("page");
    const favorites = lists(page).getByRole("link", { name: "Favorites" });
    await favorites.click({ modifiers: ["Control"] });
    const other = await opened;
    await expect.poll(() => titles(other)).toEqual(["Server 10"]);
    await other.close();
    expect((await titles(page)).length).toBe(4);
  });

  it("open by a tag of an Item", async () => {
    const { page, team, star } = await openLists();
    await page.goto(`/console/#/items/${team}/${star}`);
    await page.locator("article").getByRole("link", { name: "production" }).click();
    await expect.poll(() => titles(page)).toEqual(["Server 9", "Server 10"]);
  });

  it("keep the form that asks before it is left", async () => {
    const { page, team, star } = await openLists();
    await page.goto(`/console/#/items/${team}/${star}/edit`);
    await titleField(page).fill("Typed");
    const favorites = lists(page).getByRole("link", { name: "Favorites" });
    await favorites.click();
    await confirm(page, "Keep editing");
    expect(await titleField(page).inputValue()).toBe("Typed");
    expect((await titles(page)).length).toBe(4);
    await favorites.click();
    await confirm(page, "Discard changes");
    await expect.poll(() => titles(page)).toEqual(["Server 10"]);
  });

  it("are in the address, so that a reload, Back and another tab show the same one, and a tag is there by an id", async () => {
    const { page } = await openLists();
    await lists(page).getByText("Tags", { exact: true }).click();
    await lists(page).getByRole("link", { name: "old 1" }).click();
    await listed(page, "Server 9").click();
    await heading(page, "Server 9").waitFor();
    expect(page.url()).not.toContain("old");
    await page.reload();
    await heading(page, "Server 9").waitFor();
    await expect.poll(() => titles(page)).toEqual(["Server 9"]);
    expect(await page.locator(".shown-list strong").first().innerText()).toBe("old");
    await lists(page).getByRole("link", { name: "Archive 1" }).click();
    await expect.poll(() => titles(page)).toEqual(["Archived"]);
    await page.goBack();
    await expect.poll(() => titles(page)).toEqual(["Server 9"]);
    await page.goBack();
    await expect.poll(() => heading(page, "Server 9").count()).toBe(0);
    expect(await titles(page)).toEqual(["Server 9"]);
  });

  it.each([
    ["nothing", "All items", 4],
    ["constructor", "All items", 4],
    ["vault", "All items", 4],
    ["tag.%3Cb%3E", "All items", 4],
    ["category.constructor", "Custom", 0],
    ["vault.0", "Unknown vault", 0],
    ["tag.0", "Tag", 0],
  ])("show all or no Items for an address that names no list: %s", async (list, name, count) => {
    const { page } = await openLists();
    await page.goto(`/console/#/items?list=${list}`);
    await page.reload();
    await page.getByText(`${count} items`, { exact: true }).waitFor();
    expect(await page.locator(".shown-list strong").first().innerText()).toBe(name);
  });

  it("of a vault that does not exist, or that the session does not open, says so", async () => {
    const { page } = await openLists();
    for (const vault of [crypto.randomUUID(), await makeVault("Not opened")]) {
      await page.goto(`/console/#/items?list=vault.${vault}`);
      await see(page, "This vault doesn’t exist, or you don’t have access to it.");
      await page.getByText("Unknown vault").first().waitFor();
      await press(page, "Show all items");
      await expect.poll(() => titles(page)).toEqual(["Apple", "Server 9", "Server 10", "Zebra"]);
    }
  });

  it("tell Items of two vaults with one id apart, which a client has chosen", async () => {
    const [team, home] = [await makeVault("Team"), await makeVault("Home")];
    const { token } = await makeToken({ [team]: "rw", [home]: "rw" }, "uuid");
    const id = crypto.randomUUID();
    for (const [vault, title] of [
      [team, "Of the team"],
      [home, "Of home"],
    ] as const) {
      const made = await fetch(new URL(`v1/vaults/${vault}/items`, inject("url")), {
        method: "POST",
        headers: { Authorization: `Bearer ${token}`, "Item-Id": id, "Content-Type": "application/json" },
        body: JSON.stringify({ ...login(title), category: "LOGIN", vault: { id: vault } }),
      });
      expect(made.status).toBe(200);
    }
    const page = await openPage({ token });
    await page.goto(`/console/#/items/${team}/${id}`);
    await heading(page, "Of the team").waitFor();
    const current = page.locator(".rows a[aria-current]");
    await expect.poll(() => current.allInnerTexts()).toEqual([expect.stringContaining("Of the team")]);
    await press(page, "Favorite");
    await page.getByText("Added to favorites").waitFor();
    expect(await titles(page)).toEqual(["Of home", "Of the team"]);
    expect(await page.locator(".rows .favorite").count()).toBe(1);
    await listed(page, "Of home").click();
    await heading(page, "Of home").waitFor();
    await expect.poll(() => current.allInnerTexts()).toEqual([expect.stringContaining("Of home")]);
    await page.locator(".rows [data-selects]").first().click();
    await page.getByText("1 item selected").waitFor();
  });

  it("scroll to their end while a row at their beginning has the focus", async () => {
    const { page } = await openList(Array.from({ length: 20 }, (_, index) => login(`Item ${index}`)));
    await page.keyboard.press("ArrowDown");
    await page.locator(".rows").hover();
    await page.mouse.wheel(0, 10_000);
    await listed(page, "Item 19").waitFor();
    expect(await page.evaluate("document.activeElement.textContent")).toContain("Item 0");
  });

  it("are a menu on a phone, where the bar at the bottom leads to everything", async () => {
    const { page } = await openLists({ width: 390, height: 780, context: { hasTouch: true, isMobile: true } });
    // The keyboard of the phone stays closed.
    expect(await page.evaluate("document.activeElement.localName")).toBe("body");
    const bar = page.getByRole("navigation", { name: "Quick access" });
    await bar.getByRole("button", { name: "More" }).click();
    await lists(page).getByRole("link", { name: "Home 2" }).click();
    await expect.poll(() => titles(page)).toEqual(["Apple", "Zebra"]);
    await bar.getByRole("button", { name: "More" }).click();
    const sheet = page.getByRole("navigation", { name: "Views" });
    const { x, y, width, height } = (await sheet.boundingBox())!;
    expect([x, width, Math.round(y + height)]).toEqual([0, 390, 780]);
    expect(await coveredButtons(page)).not.toContain("Sign out");
    expect(await sheet.evaluate((element) => getComputedStyle(element).backgroundColor)).not.toBe("rgba(0, 0, 0, 0)");
    await sheet.getByRole("link", { name: "Activity" }).click();
    await heading(page, "Activity").waitFor();
    await bar.getByRole("button", { name: "Search" }).click();
    await page.keyboard.type("zeb");
    await page.getByRole("option", { name: "Zebra" }).tap();
    await heading(page, "Zebra").waitFor();
    await bar.getByRole("button", { name: "New item" }).click();
    await page.getByLabel("Title").waitFor();
    const small = await page.evaluate(() =>
      [...document.querySelectorAll("button, .button, select, .bar a")]
        .filter((one) => one.checkVisibility() && one.getBoundingClientRect().height < 44)
        .map((one) => one.outerHTML),
    );
    expect(small).toEqual([]);
    await bar.getByRole("button", { name: "More" }).click();
    await signOut(page);
    await page.getByLabel("Token").waitFor();
  });
});

it("what is a popover at one width is closed at another one", async () => {
  const { page } = await openLists({ width: 390, height: 780 });
  await page.getByRole("button", { name: "More" }).click();
  await lists(page).getByRole("link", { name: "Home 2" }).waitFor();
  await page.setViewportSize({ width: 1280, height: 800 });
  await expect.poll(() => page.locator(":popover-open").count()).toBe(0);
  await listed(page, "Apple").click();
  await heading(page, "Apple").waitFor();
});

it("a session that may write to some Items of a vault is offered no new one", async () => {
  const { vault, items } = await seed([login("Own")]);
  const issued = await admin("POST", "tokens", { name: "scoped", vaults: { [vault]: { permissions: "rw", items: [items[0]] } } });
  const page = await openPage({ token: issued.token });
  await page.goto("/console/");
  await listed(page, "Own").waitFor();
  expect(await page.getByRole("button", { name: "New item" }).count()).toBe(0);
});

/** Opens the console with a token of these vaults. */
const openWith = async (vaults: object): Promise<Page> => {
  const page = await openPage({ token: (await admin("POST", "tokens", { name: "scoped", vaults })).token });
  await page.goto("/console/");
  return page;
};

it("vaults in which the session makes no Item are offered neither by the form of a new one nor in an empty list", async () => {
  const { vault, items } = await seed([login("Own")], { name: "Some" });
  const [whole, readable] = [await makeVault("Whole"), await makeVault("Readable")];
  const some = { permissions: "rw", items: [items[0]] };
  const page = await openWith({ [vault]: some, [whole]: "rw", [readable]: "r" });
  await page.getByRole("button", { name: "New item" }).first().click();
  const offered = page.getByRole("combobox", { name: "Vault" }).locator("option");
  await expect.poll(() => offered.allTextContents()).toEqual(["Whole"]);
  await sendRequest("DELETE", `v1/vaults/${vault}/items/${items[0]}`, (await makeToken({ [vault]: "rw" })).token);
  const empty = await openWith({ [vault]: some, [readable]: "r" });
  await empty.getByText("No items yet.").waitFor();
  expect(await empty.getByRole("link", { name: "Import items" }).count()).toBe(0);
  await empty.goto(`/console/#/items/${vault}/${crypto.randomUUID()}/new`);
  await empty.getByText("You don’t have permission to create items.").waitFor();
});

it("the button that skips the navigation is the first one, and leads to the view", async () => {
  const { page } = await openLists();
  await page.goto("/console/#/activity");
  await heading(page, "Activity").waitFor();
  const first = page.locator("button, a, input, select").first();
  expect(await first.textContent()).toBe("Skip to content");
  await first.focus();
  await page.keyboard.press("Enter");
  expect(await page.evaluate("document.activeElement.textContent")).toBe("Activity");
});

it("the look that is chosen stays after a reload, and nothing else is stored", async () => {
  const { page } = await openLists();
  const ground = () => page.evaluate<string>("getComputedStyle(document.body).backgroundColor");
  const light = await ground();
  await openMenu(page);
  await page.getByLabel("Theme").selectOption("Dark");
  const dark = await ground();
  expect(dark).not.toBe(light);
  await page.reload();
  await page.getByRole("list", { name: "Items" }).waitFor();
  expect([await ground(), await page.evaluate("JSON.stringify(localStorage)")]).toEqual([dark, '{"look":"dark"}']);
  await openMenu(page);
  await page.getByLabel("Theme").selectOption("System");
  expect([await ground(), await page.evaluate("localStorage.length")]).toEqual([light, 0]);
});

describe("a value of an Item", () => {
  const FIELDS = [
    { id: "secret", type: "CONCEALED", label: "secret", value: "hidden-value" },
    { id: "note", label: "note", value: "a note of several words" },
    { id: "mail", type: "EMAIL", label: "mail", value: "ada@example.com" },
    { id: "phone", type: "PHONE", label: "phone", value: "+43 1 234" },
    { id: "page", type: "URL", label: "page", value: "https://example.com/a" },
    { id: "script", type: "URL", label: "script", value: "javascript:alert(1)" },
  ];

  const openFields = () => openItem([{ title: "Fields", fields: FIELDS }]);

  it("is copied by a click on its row, a concealed one without being shown", async () => {
    const { page } = await openFields();
    for (const [label, value] of [
      ["note", "a note of several words"],
      ["secret", "hidden-value"],
    ] as const) {
      await page.locator("dt", { hasText: label }).click();
      await page.getByText(`${label} copied`).waitFor();
      expect(await readClipboard(page)).toBe(value);
    }
    expect(await page.content()).not.toContain("hidden-value");
  });

  it("is not copied by the click that ends the selection of a part of it", async () => {
    const { page } = await openFields();
    await page.evaluate(`{
      const write = navigator.clipboard.writeText.bind(navigator.clipboard);
      window.copied = 0;
      navigator.clipboard.writeText = (text) => write(text, copied++);
    }`);
    const copied = () => page.evaluate<number>("copied");
    const box = (await page.getByText("a note of several words").boundingBox())!;
    await page.mouse.move(box.x + 2, box.y + box.height / 2);
    await page.mouse.down();
    await page.mouse.move(box.x + 60, box.y + box.height / 2, { steps: 4 });
    await page.mouse.up();
    expect([await page.evaluate("getSelection().toString().length > 0"), await copied()]).toEqual([true, 0]);
    await page.locator("dt", { hasText: "secret" }).click();
    await page.getByText("Secret copied").waitFor();
    expect(await copied()).toBe(1);
  });

  it("is a link where its type has one, and never one that runs a script", async () => {
    const { page } = await openFields();
    const links = await page.locator("article dd a").evaluateAll((all) => all.map((one) => one.getAttribute("href")));
    expect(links).toEqual(["mailto:ada@example.com", "tel:+431234", "https://example.com/a"]);
  });
});
