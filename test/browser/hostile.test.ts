import { expect, inject, it } from "vitest";
import { admin, makeToken, makeVault, sendRequest } from "../sdk/support/requests.ts";
import { coveredButtons } from "./support/layout.ts";
import { openPage } from "./support/page.ts";
import { makeItems } from "./support/seed.ts";
import { signIn } from "./support/session.ts";
import { viewsOf } from "./support/views.ts";
import type { Page } from "playwright-core";

/** Texts that people can store, and that would reorder, fill or empty the page around them, in every view. */

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

it.each(Object.entries(HOSTILE))("every view stays usable beside %s", async (_, text) => {
  const vault = await makeVault(text);
  const { token } = await makeToken({ [vault]: "rwd" }, "uuid");
  const [item, deleted] = await makeItems(token, vault, [
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
  await sendRequest("PATCH", `v1/vaults/${vault}/items/${item}`, token, [{ op: "replace", path: "/favorite", value: true }]);
  await sendRequest("DELETE", `v1/vaults/${vault}/items/${deleted}`, token);
  await admin("POST", "tokens", { name: text, vaults: { [vault]: "r" } });
  const page = await openPage();
  await signIn(page, token, inject("secrets").ADMIN_TOKEN);
  const faults: Record<string, string[]> = {};
  for (const [view, path, ready] of viewsOf({ vault, item: item!, deleted: deleted! })) {
    await page.setViewportSize(SIZES[1]);
    await page.goto(`/console/#/${path}`);
    await page.locator(ready).first().waitFor();
    const found = await faultsOf(page);
    if (found.length > 0) faults[view] = found;
  }
  expect(faults).toEqual({});
});
