import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { makeToken, makeVault } from "../sdk/support/requests.ts";
import { heading, listed, openAsBoth, openItem, openList, press } from "./support/console.ts";
import { injectFault } from "./support/faults.ts";
import { openPage } from "./support/page.ts";
import { login, makeItems } from "./support/seed.ts";
import { viewsOf } from "./support/views.ts";

/** What a person sees at each width and in both schemes: nothing that matters is cut off, faint, moving or too small for a finger. */

const PHONE = { width: 390, height: 780 };
const LONG = ["Production infrastructure, Europe and Asia", "Production infrastructure, Europe and Africa"] as const;

let vaults: readonly string[];
let token: string;
beforeAll(async () => {
  vaults = await Promise.all(LONG.map((name) => makeVault(name)));
  ({ token } = await makeToken(Object.fromEntries(vaults.map((vault) => [vault, "rw"])), "uuid"));
  for (const vault of vaults) await makeItems(token, vault, [login("Grafana"), login("GitHub")]);
});

const openAsAdmin = (view: string, size: { readonly width: number; readonly height: number }) => openAsBoth(token, view, size);

/** Whether all of a text is in view within its element, which cuts off what has no room. */
const isWhole = (page: Page, selector: string, text: string): Promise<boolean> =>
  page
    .locator(selector)
    .filter({ hasText: text })
    .first()
    .evaluate((element, words) => {
      const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
      let node = walker.nextNode();
      while (node && !node.textContent!.includes(words)) node = walker.nextNode();
      const range = document.createRange();
      const start = node!.textContent!.indexOf(words);
      range.setStart(node!, start);
      range.setEnd(node!, start + words.length);
      const [inner, outer] = [range.getBoundingClientRect(), element.getBoundingClientRect()];
      return inner.width > 0 && inner.right <= outer.right && inner.bottom <= outer.bottom + 1;
    }, text);

describe("on a phone", () => {
  it("a row says in view that its item cannot be read", async () => {
    const lister = (await makeToken(Object.fromEntries(vaults.map((vault) => [vault, "l"])), "uuid")).token;
    const page = await openPage({ ...PHONE, token: lister });
    await page.goto("/console/");
    await page.locator(".rows a").first().waitFor();
    expect(await isWhole(page, ".row a > .quiet", "No read access")).toBe(true);
  });

  it("the permissions name each vault in full", async () => {
    const page = await openAsAdmin("people", PHONE);
    await press(page, "Invite person");
    for (const name of LONG) {
      await page.getByRole("row", { name }).waitFor();
      expect(await isWhole(page, ".scope-rows .name", name)).toBe(true);
    }
    // No letter of the longest permission is on a line of its own.
    const lines = await page.getByRole("columnheader", { name: "Delete permanently" }).evaluate((header) => {
      const range = document.createRange();
      range.selectNodeContents(header);
      return range.getClientRects().length;
    });
    expect(lines).toBe(2);
  });

  it("the activity shows entries, and its filters by a button", async () => {
    const page = await openPage({ ...PHONE, token });
    await page.goto("/console/#/activity");
    const entry = page.locator(".cards tbody tr").first();
    await entry.waitFor();
    expect((await entry.boundingBox())!.y).toBeLessThan(PHONE.height * 0.7);
    expect(await page.getByLabel("Request").isVisible()).toBe(false);
    await press(page, "Filters");
    await page.getByLabel("Request").selectOption("created");
    await page.getByRole("button", { name: "Filters (in use)" }).waitFor();
    await page.setViewportSize({ width: 1024, height: 780 });
    await page.getByLabel("Request").waitFor();
    expect(await page.getByRole("button", { name: "Filters" }).isVisible()).toBe(false);
  });

  it("buttons and fields are at least 40 pixels high", async () => {
    const page = await openAsAdmin("items", PHONE);
    const small: unknown[] = [];
    const [item = ""] = await makeItems(token, vaults[0]!, [login("Small")]);
    for (const [name, path, ready] of viewsOf({ vault: vaults[0]!, item, deleted: "" })) {
      if (name.startsWith("deleted")) continue;
      await page.goto(`/console/#/${path}`);
      await page.locator(ready).first().waitFor();
      await expect.poll(() => page.getByText("Loading…").count()).toBe(0);
      const heights = page
        .locator("button, .button, select, input:not([type=checkbox], [type=radio])")
        .evaluateAll((all) =>
          all
            .filter((one) => one.checkVisibility() && one.getBoundingClientRect().height < 40)
            .map((one) => one.getAttribute("aria-label") ?? one.outerHTML.slice(0, 80)),
        );
      small.push(...(await heights).map((text) => [name, text]));
    }
    expect(small).toEqual([]);
  });
});

it.each([390, 800, 1440])("the navigation marks the view at %i pixels", async (width) => {
  const page = await openAsAdmin("items", { width, height: 780 });
  const marked = page.locator(":is(.sidebar, .bar) [aria-current]:visible");
  for (const [view, names] of [
    ["items", ["Items", "Items", "All items"]],
    ["deleted", ["Items", "Items", "Deleted items"]],
    ["tokens", ["More", "More", "Tokens"]],
    ["activity", ["More", "More", "Activity"]],
  ] as const) {
    await page.goto(`/console/#/${view}`);
    await expect
      .poll(async () => (await marked.allInnerTexts()).map((text) => text.replace(/\d+/, "").trim()))
      .toEqual([names[[390, 800, 1440].indexOf(width)]]);
  }
});

/** The contrast of two colours in the form `rgb(1, 2, 3)` (WCAG 2.2, 1.4.3). */
function contrastOf(...colors: readonly [string, string]): number {
  const [one = 0, other = 0] = colors.map((color) => {
    const [red = 0, green = 0, blue = 0] = color.match(/\d+/g)!.map((part) => {
      const value = Number(part) / 255;
      return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05;
  });
  return Math.max(one, other) / Math.min(one, other);
}

it.each(["light", "dark"] as const)(
  "the hint in a field has a contrast of at least 4.5 in the %s scheme",
  async (colorScheme) => {
    const page = await openPage({ token, colorScheme });
    await page.goto("/console/");
    const [color, ground, opacity] = await page.getByRole("searchbox", { name: "Search items" }).evaluate((field) => {
      const hint = getComputedStyle(field, "::placeholder");
      return [hint.color, getComputedStyle(field).backgroundColor, hint.opacity] as const;
    });
    expect(opacity).toBe("1");
    expect(contrastOf(color, ground)).toBeGreaterThanOrEqual(4.5);
  },
);

const SECRET = 'l1O0-"<b>\u{1f511} \u05d0=é9';

async function openSecret(value: string, colorScheme: "light" | "dark" = "light"): Promise<Page> {
  const fields = [{ id: "secret", type: "CONCEALED", label: "secret", value }];
  const { page } = await openItem([{ title: "Coloured", fields }], { colorScheme });
  await press(page, "Reveal secret");
  await page.locator(".value.secret").waitFor();
  return page;
}

/** The texts with a colour of their own, by its name. */
const colouredTexts = (page: Page): Promise<Record<string, string[]>> =>
  page.evaluate(() => {
    const texts = [...CSS.highlights].map(([name, ranges]) => [
      name,
      [...ranges].map((range) => range.startContainer.textContent!.slice(range.startOffset, range.endOffset)),
    ]);
    return Object.fromEntries(texts) as Record<string, string[]>;
  });

describe("a secret that is shown", () => {
  it("has its digits and symbols in colours of their own until it is hidden, and stays one exact text", async () => {
    const page = await openSecret(SECRET);
    expect(await colouredTexts(page)).toEqual({ digits: ["1", "0", "9"], symbols: ['-"<', ">\u{1f511}", "="] });
    const value = page.locator(".value.secret");
    expect(await value.textContent()).toBe(SECRET);
    expect(await value.evaluate((element) => [element.children.length, element.firstElementChild?.children.length])).toEqual([
      1, 0,
    ]);
    const selected = await value.evaluate((element) => {
      getSelection()!.selectAllChildren(element);
      return getSelection()!.toString();
    });
    expect(selected).toBe(SECRET);
    await press(page, "Reveal secret");
    await value.waitFor({ state: "detached" });
    expect(await colouredTexts(page)).toEqual({ digits: [], symbols: [] });
  });

  it.each(["light", "dark"] as const)("has colours with a contrast of at least 4.5 in the %s scheme", async (colorScheme) => {
    const page = await openSecret(SECRET, colorScheme);
    const [value, ...colors] = await page.locator(".value.secret").evaluate((element) => {
      const colorOf = (name?: string) => getComputedStyle(element, name).color;
      return [colorOf(), colorOf("::highlight(digits)"), colorOf("::highlight(symbols)")] as const;
    });
    expect(new Set([value, ...colors]).size).toBe(3);
    // The row is lighter or darker while the pointer is on it.
    const grounds: string[] = [];
    for (const target of [page.locator("h1"), page.locator(".field-row")]) {
      await target.hover();
      grounds.push(
        await page.evaluate(() => {
          const style = getComputedStyle(document.querySelector(".field-row")!);
          return style.backgroundColor === "rgba(0, 0, 0, 0)"
            ? getComputedStyle(document.body).backgroundColor
            : style.backgroundColor;
        }),
      );
    }
    expect(new Set(grounds).size).toBe(2);
    for (const color of colors)
      for (const ground of grounds) expect(contrastOf(color, ground), `${color} on ${ground}`).toBeGreaterThanOrEqual(4.5);
  });

  it("has one colour if it is longer than 2,000 characters", async () => {
    const page = await openSecret("a1-".repeat(667));
    expect(await colouredTexts(page)).toEqual({});
  });
});

it("titles, labels, values and rows have their sizes, and a row of the list shows both of its lines", async () => {
  const { page } = await openItem([login("Grafana")]);
  await press(page, "Reveal password");
  const fontOf = (selector: string) =>
    page
      .locator(selector)
      .first()
      .evaluate((element) => {
        const { fontSize, fontWeight, textTransform } = getComputedStyle(element);
        return `${fontSize} ${fontWeight} ${textTransform}`;
      });
  expect(await Promise.all([".item h1", ".item dt", ".item .value", ".item .value.secret"].map(fontOf))).toEqual([
    "24px 650 none",
    "12px 500 none",
    "15px 500 none",
    "15px 500 none",
  ]);
  expect(await page.locator(".item dt").allInnerTexts()).toEqual(["Username", "Password", "URL"]);
  const row = listed(page, "Grafana");
  expect((await row.boundingBox())!.height).toBe(52);
  expect(await row.evaluate((element) => element.scrollHeight <= element.clientHeight)).toBe(true);
});

it.each([
  [390, false],
  [1440, true],
])("the actions of an item are on the line of its title where they have room: at %i pixels %s", async (width, beside) => {
  const { page } = await openItem([login("Grafana")], { width });
  const [title, actions] = (
    await Promise.all([".item h1", ".item > header > .actions"].map((one) => page.locator(one).boundingBox()))
  ).map((box) => box!);
  expect(actions!.y < title!.y + title!.height).toBe(beside);
});

it("a login has the letter of its title as its face, and another item the icon of its category", async () => {
  const { page } = await openList([login("Grafana"), login("…"), { title: "Backup server", category: "SERVER" }]);
  await listed(page).nth(2).waitFor();
  const faces = await listed(page).evaluateAll((all) =>
    all.map((row) => [".title", ".tile"].map((part) => row.querySelector(part)!.textContent) as [string, string]),
  );
  expect(Object.fromEntries(faces)).toEqual({ Grafana: "G", "…": "", "Backup server": "" });
  expect(await page.locator(".rows .tile svg").count()).toBe(2);
});

it("grey rows stand for the list and for an item while they are loading, and move only for people who want motion", async () => {
  const { page, address } = await openList([login("Grafana")]);
  const list = await injectFault(page, "GET", "/v1/vaults/*/items", "held");
  const item = await injectFault(page, "GET", "/v1/vaults/*/items/*", "held");
  await page.goto("about:blank");
  await page.goto(address);
  for (const [pane, loading, shown] of [
    ["Items", list, listed(page)],
    ["Item", item, heading(page, "Grafana")],
  ] as const) {
    const skeleton = page.getByRole("region", { name: pane, exact: true }).locator(".skeleton[aria-busy=true]");
    await skeleton.getByText("Loading…").waitFor();
    for (const reducedMotion of ["no-preference", "reduce"] as const) {
      await page.emulateMedia({ reducedMotion });
      const animated = await skeleton.evaluate((element) => element.getAnimations({ subtree: true }).length > 0);
      expect(animated).toBe(reducedMotion !== "reduce");
    }
    loading.end();
    await shown.waitFor();
    expect(await skeleton.count()).toBe(0);
  }
});

it("the counts of the lists have their room before they come", async () => {
  const page = await openPage({ token, width: 1024 });
  await page.goto("/console/");
  await page.locator(".sidebar .count:not(:empty)").first().waitFor();
  const [after, before] = await page.locator(".sidebar").evaluate((lists) => {
    const links = [...lists.querySelectorAll("li a")];
    // Of the names and the rows, as high and as wide as they are.
    // oxlint-disable-next-line unicorn/consistent-function-scoping
    const places = () =>
      links.flatMap((one) => [one, one.querySelector(".name")!].map((each) => JSON.stringify(each.getBoundingClientRect())));
    const shown = places();
    for (const count of lists.querySelectorAll(".count")) count.textContent = "";
    return [shown, places()];
  });
  expect(after.length).toBeGreaterThan(6);
  expect(before).toEqual(after);
});

it("the bullets of a list of failures are beside its edge, not on it", async () => {
  const page = await openPage({ token });
  await page.goto("/console/#/import");
  const buffer = Buffer.from("name,url,username,password\nFine,,ada,pw1\nOdd,ada\n");
  await page.getByLabel("Choose a file").setInputFiles({ name: "odd.csv", mimeType: "text/csv", buffer });
  const item = page.locator(".failure li").first();
  await item.waitFor();
  const distance = await item.evaluate(
    (one) => one.getBoundingClientRect().left - one.closest(".failure")!.getBoundingClientRect().left,
  );
  expect(distance).toBeGreaterThan(30);
});

it("times have the form of the language of the browser, as its fields for dates have", async () => {
  const { page } = await openItem([login("Grafana")], { context: { locale: "de-DE" } });
  const time = page.locator(".details time").first();
  await expect.poll(() => time.innerText()).toMatch(/^\d{2}\.\d{2}\.\d{4}, \d{2}:\d{2}$/);
});
