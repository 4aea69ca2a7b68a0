import type { Page } from "playwright-core";
import { expect, inject, it } from "vitest";
import { admin, makeToken, makeVault, sendRequest } from "../sdk/support/requests.ts";
import { checkLooks } from "./support/accessibility.ts";
import { dialogsOf } from "./support/dialogs.ts";
import { coveredButtons } from "./support/layout.ts";
import { openPage } from "./support/page.ts";
import { acceptDialogs } from "./support/problems.ts";
import { login, makeItems } from "./support/seed.ts";
import { signIn } from "./support/session.ts";
import { type Addressed, viewsOf } from "./support/views.ts";

/** Every view and every dialog: read and pressed at each width and in both looks, by the keyboard, and beside any text that people store. */

const HOSTILE = {
  "an override of the direction": "\u202Etxet",
  "900 letters": "W".repeat(900),
  "no visible letter": "\u200B\u2060",
} as const;
const SIZES = [
  { width: 390, height: 780 },
  { width: 1024, height: 780 },
  { width: 1440, height: 900 },
] as const;

/** The texts of the page that change the order of what is beside them, which a mark should stand for. */
const reorderedTexts = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const found: string[] = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode())
      if (/[\u202a-\u202e]/.test(node.textContent!)) found.push(node.parentElement!.outerHTML);
    return found;
  });

/** What is wrong with the view that the page shows. */
async function faultsOf(page: Page): Promise<string[]> {
  const faults = (await reorderedTexts(page)).map((html) => `reorders: ${html}`);
  for (const size of SIZES) {
    await page.setViewportSize(size);
    const covered = (await coveredButtons(page)).map((name) => `covered: ${name.slice(0, 60)}`);
    const measured = await page.evaluate(() => {
      const shown = [...document.querySelectorAll("h1, h2, dt, .name, .rows a, td, th")].filter((element) =>
        element.checkVisibility(),
      );
      const high = shown.filter((element) => element.getBoundingClientRect().height > innerHeight / 2);
      const links = [...document.querySelectorAll<HTMLElement>(".rows a .title, main h1")].filter((one) => one.checkVisibility());
      const untitled = links.filter((one) => one.innerText.includes("\u200B"));
      const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      const empty: Element[] = [];
      for (let node = walker.nextNode(); node; node = walker.nextNode())
        if (/^[\p{C}\p{Z}]+$/u.test(node.textContent!.trim())) empty.push(node.parentElement!);
      const broken = [...document.querySelectorAll("td[data-label='Who'] span")].filter(
        (one) => one.getClientRects().length > one.textContent.split(" ").length,
      );
      const cut = [...document.querySelectorAll(".scope-names .quiet")].filter(
        (one) => one.getBoundingClientRect().bottom > one.parentElement!.getBoundingClientRect().bottom + 1,
      );
      const sideways = Math.max(...[document.documentElement, document.querySelector("main")!].map((one) => one.scrollWidth));
      return [
        ...high.map((one) => `higher than half of the screen: ${one.outerHTML.slice(0, 80)}`),
        ...empty.map((one) => `empty: ${one.outerHTML.slice(0, 80)}`),
        ...untitled.map((one) => `has an invisible title, and is not called untitled: ${one.outerHTML.slice(0, 80)}`),
        ...broken.map((one) => `breaks within a word: ${one.textContent}`),
        ...cut.map((one) => `permissions are cut off: ${one.textContent}`),
        ...(sideways > innerWidth ? [`scrolls sideways: ${sideways}`] : []),
      ];
    });
    faults.push(...[...covered, ...measured].map((fault) => `${size.width}: ${fault}`));
  }
  return faults;
}

/** Opens the console with a session of the vault's token and of the administrator. */
async function openAll(name: string, items: Parameters<typeof makeItems>[2]): Promise<Addressed & { readonly page: Page }> {
  const [vault, other] = [await makeVault(name), await makeVault("Other")];
  const { token } = await makeToken({ [vault]: "rwd", [other]: "rwd" }, "uuid");
  const [item = "", deleted = ""] = await makeItems(token, vault, items);
  await sendRequest("PATCH", `v1/vaults/${vault}/items/${item}`, token, [{ op: "replace", path: "/favorite", value: true }]);
  await sendRequest("DELETE", `v1/vaults/${vault}/items/${deleted}`, token);
  await admin("POST", "tokens", { name, vaults: { [vault]: "r" } });
  const page = await openPage();
  await signIn(page, token, inject("secrets").ADMIN_TOKEN);
  return { page, vault, item, deleted };
}

/** Expects that nothing is wrong with any view. */
async function expectViews({ page, ...ids }: Addressed & { readonly page: Page }, find: (view: string) => Promise<string[]>) {
  const faults: Record<string, string[]> = {};
  for (const [view, path, ready] of viewsOf(ids)) {
    await page.setViewportSize(SIZES[1]);
    await page.goto(`/console/#/${path}`);
    await page.locator(ready).first().waitFor();
    const found = await find(view);
    if (found.length > 0) faults[view] = found;
  }
  expect(faults).toEqual({});
}

/** Milliseconds. Some views list all vaults of the service, of which other files have made a hundred where all run. */
const TIMEOUT = 900_000;
const OTP = { id: "otp", type: "OTP", label: "one-time password", value: "JBSWY3DPEHPK3PXP" };
const GRAFANA = { ...login("Grafana"), fields: [...(login("Grafana")["fields"] as object[]), OTP] };

it(
  "every view has no fault that axe finds, begins at its title or its first field, and is left by the search of Ctrl+K",
  async () => {
    const opened = await openAll("Team", [GRAFANA, login("Gone"), login("Wiki")]);
    const { page } = opened;
    const active = (what: string) => page.evaluate<string>(`document.activeElement.${what}`);
    await expectViews(opened, async (view) => {
      await expect.poll(() => page.locator("[aria-busy=true]").count()).toBe(0);
      await expect.poll(() => active("localName"), { message: view }).toMatch(/^(?:h1|input)$/);
      await page.evaluate("for (const part of document.querySelectorAll('details')) part.open = true");
      const violations = await checkLooks(page);
      await page.keyboard.press("Control+k");
      await expect.poll(() => active("type"), { message: view }).toBe("search");
      await page.keyboard.press("Escape");
      return violations === "" ? [] : [violations];
    });
  },
  TIMEOUT,
);

it(
  "every dialog fits into the window, has no fault that axe finds, and ends by Escape",
  async () => {
    const { page, vault, item } = await openAll("Team", [GRAFANA, login("Gone"), login("Wiki")]);
    acceptDialogs(page); // The browser's question about what was typed.
    const readyOf = new Map(viewsOf({ vault, item, deleted: "" }).map(([, path, ready]) => [path, ready]));
    const faults: Record<string, unknown> = {};
    const dialog = page.locator("dialog:modal");
    for (const [name, path, open] of dialogsOf({ vault, item })) {
      await page.setViewportSize(SIZES[1]);
      await page.goto("about:blank");
      await page.goto(`/console/#/${path}`);
      await page.locator(readyOf.get(path)!).first().waitFor();
      await open(page);
      await dialog.waitFor();
      await expect.poll(() => dialog.locator("[aria-busy=true]").count()).toBe(0);
      const found: string[] = [];
      for (const size of SIZES) {
        await page.setViewportSize(size);
        found.push(...(await coveredButtons(page)).map((button) => `${size.width}: covered: ${button}`));
        const fits = await dialog.evaluate(
          (one) => one.getBoundingClientRect().right <= innerWidth && one.scrollWidth <= one.clientWidth,
        );
        if (!fits) found.push(`${size.width}: does not fit`);
      }
      const violations = await checkLooks(page);
      if (violations !== "") found.push(violations);
      await page.keyboard.press("Escape");
      if (await dialog.count()) await page.keyboard.press("Escape");
      if (await dialog.count()) found.push("Escape does not close it");
      if (found.length > 0) faults[name] = found;
    }
    expect(faults).toEqual({});
  },
  TIMEOUT,
);

it.each(Object.entries(HOSTILE))("every view stays usable beside %s", async (_, text) => {
  const opened = await openAll(text, [
    {
      title: text,
      tags: [text],
      urls: [{ href: `https://example.com/${text}`, label: text }],
      sections: [{ id: "section", label: text }],
      fields: [
        { purpose: "USERNAME", value: text },
        { label: text, type: "STRING", value: text, section: { id: "section" } },
      ],
    },
    { title: text },
  ]);
  await expectViews(opened, () => faultsOf(opened.page));
});
