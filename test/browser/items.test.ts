import type { Locator, Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { makeToken, makeVault } from "../sdk/support/requests.ts";
import { checkAccessibility } from "./support/accessibility.ts";
import { readClipboard } from "./support/clipboard.ts";
import { injectFault } from "./support/faults.ts";
import { openPage } from "./support/page.ts";
import { login, makeItems, type Seeded, seed } from "./support/seed.ts";
import { signInLink, signOut } from "./support/session.ts";

/** Reading Items: sign in, find, open, reveal, copy. */

const PASSWORD = "correct-horse-battery";
const MARKUP = "<img src=x onerror=alert(1)>";
const LONG = "A title that is much longer than the list is wide, so that its end is not shown there but in the Item "
  .repeat(2)
  .trim();

const ITEMS = [
  {
    title: "Grafana",
    tags: ["monitoring"],
    urls: [{ href: "https://grafana.example.com" }, { href: "javascript:alert(1)" }],
    sections: [{ id: "more", label: MARKUP }],
    fields: [
      { purpose: "USERNAME", value: "ada@example.com" },
      { purpose: "PASSWORD", value: PASSWORD },
      { label: MARKUP, type: "STRING", value: MARKUP, section: { id: "more" } },
      { purpose: "NOTES", value: "first line\nsecond line" },
    ],
  },
  { title: "GitHub", fields: [{ purpose: "USERNAME", value: "ada" }] },
  { title: MARKUP, category: "SECURE_NOTE", tags: [MARKUP] },
  { title: LONG, category: "SERVER" },
  { title: "", category: "API_CREDENTIAL", favorite: true },
];

let seeded: Seeded;
beforeAll(async () => {
  seeded = await seed(ITEMS, { name: "Team" });
});

const boxOf = async (locator: Locator) => (await locator.boundingBox())!;
const rows = (page: Page) => page.getByRole("list", { name: "Items" }).getByRole("link");
const openGrafana = async (page: Page): Promise<void> => {
  await page.goto(`/console/#/items/${seeded.vault}/${seeded.items[0]}`);
  await page.getByRole("heading", { name: "Grafana" }).waitFor();
};

describe("signing in", () => {
  it("a link signs in once, and its code is removed from the address", async () => {
    const link = await signInLink(seeded.token);
    const page = await openPage({ fresh: true });
    await page.goto(link);
    await expect.poll(() => rows(page).count()).toBe(ITEMS.length);
    expect(page.url()).not.toContain("sign-in");
    expect(await page.evaluate<number>("history.length")).toBeLessThanOrEqual(2);
    const second = await openPage();
    await second.goto(link);
    await second.getByRole("alert").getByText("This link has been used").waitFor();
  });

  it("a link tells as whom it has signed in until that is dismissed, and signing out is beside it", async () => {
    const page = await openPage();
    const told = page.getByRole("complementary", { name: "Signed in by a link" });
    await page.goto(await signInLink(seeded.token));
    await told.getByText("You’re signed in as test by link.").waitFor();

    expect(await checkAccessibility(page, "look")).toBe("");
    await told.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("Token").waitFor();
    await page.goto(await signInLink(seeded.token));
    await told.getByRole("button", { name: "Dismiss" }).click();
    await rows(page).first().waitFor();
    expect(await told.count()).toBe(0);
  });

  it("a link that is opened beside a session asks before it replaces the session", async () => {
    const other = await seed([login("Foreign")]);
    const page = await openPage({ token: seeded.token });
    for (const [answer, title] of [
      ["Stay signed in", "Grafana"],
      ["Use the link", "Foreign"],
    ] as const) {
      await page.goto(await signInLink(other.token));
      await page.getByRole("button", { name: answer }).click();
      await expect.poll(() => rows(page).filter({ hasText: title }).count()).toBe(1);
    }
  });

  it("a token signs in, a wrong one is refused in words, and signing out ends the session", async () => {
    const page = await openPage();
    await page.goto("/console/");
    await page.getByLabel("Token").fill("wrong");
    await page.keyboard.press("Enter");
    await page.getByText("This token is not valid").waitFor();
    expect(await checkAccessibility(page)).toBe("");
    await page.getByLabel("Token").fill(seeded.token);
    await page.keyboard.press("Enter");
    await rows(page).first().waitFor();
    await signOut(page);
    await page.getByLabel("Token").waitFor();
  });
});

describe("the list", () => {
  it("finds by title, tag, user name and URL, and never by the value of another field", async () => {
    const page = await openPage({ token: seeded.token });
    await page.goto("/console/");
    const search = page.getByRole("searchbox", { name: "Search items" });
    for (const [query, count] of [
      ["GRAF", 1],
      ["monitoring", 1],
      ["ada@", 1],
      ["grafana.example", 1],
      [PASSWORD, 0],
    ] as const) {
      await search.fill(query);
      await expect.poll(() => rows(page).count(), { message: query }).toBe(count);
    }
    await page.getByText("Field values aren’t searched").waitFor();
  });

  it("is used with the keyboard alone: type, Enter, and one key that copies", async () => {
    const page = await openPage({ token: seeded.token });
    await page.goto("/console/");
    await rows(page).first().waitFor();
    const pressed = async (...keys: readonly string[]): Promise<void> => {
      for (const key of keys) await page.keyboard.press(key);
    };
    await page.keyboard.type("monitoring");
    await pressed("Enter");
    await expect.poll(() => page.evaluate("document.activeElement.textContent")).toBe("Grafana");
    for (const [key, name, value] of [
      ["p", "password", PASSWORD],
      ["u", "username", "ada@example.com"],
    ] as const) {
      await pressed(key);
      await page.getByText(`${name} copied`).waitFor();
      expect(await readClipboard(page)).toBe(value);
    }
    await pressed("Control+k");
    expect(await page.evaluate("document.activeElement.type")).toBe("search");
    // Enter opens the first result, also when another one is open. A letter in the field copies nothing.
    await page.keyboard.type("up");
    await pressed("Control+a", "g", "Enter");
    await page.getByRole("heading", { name: "GitHub" }).waitFor();
    expect(await readClipboard(page)).toBe("ada@example.com");
  });
});

describe("one Item", () => {
  it("is shown with its sections, and markup in it is text", async () => {
    const page = await openPage({ token: seeded.token });
    await openGrafana(page);
    await page.getByRole("region", { name: MARKUP }).getByText(MARKUP).nth(1).waitFor();
    await page.getByText("first line\nsecond line").waitFor();
    expect(await page.getByRole("link", { name: "https://grafana.example.com" }).getAttribute("rel")).toBe("noopener noreferrer");
    expect(await page.locator("a[href^='javascript']").count()).toBe(0);
    expect(await page.locator("img").count()).toBe(0);
  });

  it("hides a revealed value again after 30 seconds", async () => {
    const page = await openPage({ token: seeded.token, fresh: true });
    await page.clock.install();
    await openGrafana(page);
    await page.getByRole("button", { name: "Reveal password" }).click();
    await page.getByText(PASSWORD).waitFor();
    await page.clock.runFor(29_000);
    expect(await page.getByText(PASSWORD).count()).toBe(1);
    await page.clock.runFor(1_500);
    await expect.poll(() => page.content()).not.toContain(PASSWORD);
  });

  it("of an empty vault beside a full one offers to make and to import Items", async () => {
    const [full, empty] = [await makeVault("Full"), await makeVault("Empty")];
    const { token } = await makeToken({ [full]: "rw", [empty]: "rw" }, "uuid");
    await makeItems(token, full, [login("Somewhere else")]);
    const page = await openPage({ token });
    await page.goto("/console/");
    await page.getByRole("navigation", { name: "Views" }).getByRole("link", { name: "Empty" }).click();
    await page.getByText("This vault is empty.").waitFor();
    await page.getByRole("link", { name: "Import items" }).waitFor();
    await page.locator(".empty").getByRole("button", { name: "New item" }).click();
    expect(page.url()).toContain(`#/items/${empty}/`);
  });

  it.each([
    ["that is the first of a person", 0, 2],
    ["beside a full one", 1, 3],
  ])("of an empty vault %s has its buttons apart and centred below the text, wide and on a phone", async (_, others, count) => {
    const [empty, other] = [await makeVault("Empty"), await makeVault("Full")];
    const { token } = await makeToken({ [empty]: "rw", [other]: "rw" }, "uuid");
    await makeItems(token, other, Array(others).fill(login("Somewhere else")));
    const page = await openPage({ token });
    await page.goto("/console/");
    await page.getByRole("navigation", { name: "Views" }).getByRole("link", { name: "Empty" }).click();
    const buttons = page.locator(".empty :is(button, .button)");
    await buttons.nth(count - 1).waitFor();
    for (const width of [390, 1024, 1440]) {
      await page.setViewportSize({ width, height: 780 });
      const pane = await boxOf(page.locator(".pane:has(.empty .button)"));
      const text = await boxOf(page.locator(".empty:has(.button) p"));
      const boxes = await Promise.all((await buttons.all()).map(boxOf));
      expect(new Set(boxes.map(({ height }) => height)).size, `heights at ${width}`).toBe(1);
      for (const [index, { x, y, height }] of boxes.entries()) {
        expect(y, `below the text at ${width}`).toBeGreaterThan(text.y + text.height + 7);
        const before = boxes[index - 1];
        const isApart = !before || (y === before.y ? x >= before.x + before.width + 8 : y >= before.y + height + 8);
        expect(isApart, `button ${index + 1} at ${width}`).toBe(true);
      }
      for (const row of new Set(boxes.map(({ y }) => y))) {
        const inRow = boxes.filter(({ y }) => y === row);
        const right = inRow.at(-1)!;
        const margins = [inRow[0]!.x - pane.x, pane.x + pane.width - right.x - right.width] as const;
        expect(Math.abs(margins[0] - margins[1]), `centre at ${width}`).toBeLessThan(4);
      }
    }
  });

  it("shows the lines of a concealed value", async () => {
    const concealed = { id: "key", type: "CONCEALED", label: "key", value: "first line\nsecond line" };
    const own = await seed([{ title: "Lines", fields: [concealed] }]);
    const page = await openPage({ token: own.token });
    await page.goto(`/console/#/items/${own.vault}/${own.items[0]}`);
    await page.getByRole("button", { name: "Reveal key" }).click();
    const shown = page.getByText("first line\nsecond line");
    await shown.waitFor();
    expect(await shown.innerText()).toBe(concealed.value);
  });

  it("copies by a key that was pressed while the Item was still being loaded", async () => {
    const page = await openPage({ token: seeded.token });
    await page.goto("/console/");
    await rows(page).first().waitFor();
    const { requests, end } = await injectFault(page, "GET", `/v1/vaults/*/items/${seeded.items[0]}`, "held");
    await page.keyboard.type("monitoring");
    await page.keyboard.press("Enter");
    await expect.poll(() => requests.length).toBe(1);
    await page.keyboard.press("p");
    end();
    await page.getByText("Password copied").waitFor();
    expect(await readClipboard(page)).toBe(PASSWORD);
  });
});
