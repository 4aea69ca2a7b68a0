import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { checkAccessibility } from "./support/accessibility.ts";
import { startPage } from "./support/page.ts";

/** The reference page of the API, /docs/ (contract 19.10). The tests also fail if the page sends a request to another origin. */

/** The headers of every static file: the block of `/*` in the file that Cloudflare reads. */
const HEADERS = readFileSync("scripts/build/static/_headers", "utf8")
  .match(/^\/\*\n((?: {2}.+\n)+)/m)![1]!
  .trim()
  .split("\n")
  .map((line) => line.trim().split(": ") as [name: string, value: string]);

/** Leaves two tags and one operation of each section. axe takes six seconds for all, which are made by the same functions. */
const SHORTEN = `
  for (const section of [...document.querySelectorAll("main > section[id^=tag-]")].slice(2)) section.remove();
  for (const section of document.querySelectorAll("main > section")) {
    for (const article of [...section.querySelectorAll("article")].slice(1)) article.remove();
  }`;

/** The tests share the page in their order, because reading and laying it out takes most of their time. */
let page: Page;
let headers: Record<string, string>;
const requests: string[] = [];

beforeAll(async () => {
  const opened = await startPage();
  page = opened.page;
  page.on("request", (request) => requests.push(new URL(request.url()).pathname));
  const response = await page.goto("/docs/");
  headers = await response!.allHeaders();
  return opened.close;
});

it("has the headers of static files", () => {
  for (const [name, value] of HEADERS) expect(headers).toHaveProperty(name.toLowerCase(), value);
});

it("requests itself and its stylesheet only", () => {
  expect(requests.toSorted()).toEqual(["/docs/", "/docs/style.css"]);
});

describe("on a phone, dark", () => {
  beforeAll(async () => {
    await page.setViewportSize({ width: 360, height: 640 });
    await page.emulateMedia({ colorScheme: "dark" });
  });

  it("does not scroll sideways", async () => {
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
  });

  it("leads to a section", async () => {
    await page.getByRole("navigation", { name: "Contents" }).getByRole("link", { name: "Files" }).click();
    await expect
      .poll(() => page.evaluate(() => document.querySelector("#tag-files")!.getBoundingClientRect().top))
      .toBeLessThan(640);
  });
});

it.each([
  ["dark", 360, "look"],
  ["light", 1280, "all"],
] as const)("has no violation of accessibility in the %s scheme, %d pixels wide", async (colorScheme, width, rules) => {
  await page.setViewportSize({ width, height: 640 });
  await page.emulateMedia({ colorScheme });
  if (process.env["LONG_RUN"] !== "1") await page.evaluate(SHORTEN);
  expect(await checkAccessibility(page, rules)).toBe("");
});
