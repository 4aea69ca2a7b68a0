import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { checkAccessibility } from "./support/accessibility.ts";
import { openPage } from "./support/page.ts";

/** The reference page of the API, /docs/ (contract 19.10). Every test also fails if the page asks another origin. */

/** The headers of every static file, as scripts/build/static/_headers sets them. */
const HEADERS = readFileSync("scripts/build/static/_headers", "utf8")
  .split("\n")
  .filter((line) => line.startsWith("  "))
  .map((line) => line.trim().split(": ") as [name: string, value: string]);

it("has the headers of static files, and sends requests for itself and its stylesheet only", async () => {
  const page = await openPage();
  const requests: string[] = [];
  page.on("request", (request) => requests.push(new URL(request.url()).pathname));
  const response = await page.goto("/docs/");
  const headers = await response!.allHeaders();
  for (const [name, value] of HEADERS) expect(headers).toHaveProperty(name.toLowerCase(), value);
  expect(HEADERS).not.toEqual([]);
  expect(requests.toSorted()).toEqual(["/docs/", "/docs/style.css"]);
});

const LOOKS = [
  { colorScheme: "light", width: 1280, height: 800 },
  { colorScheme: "dark", width: 360, height: 640 },
] as const;

/** Leaves two tags and one operation of each section. axe takes six seconds for all, which are made by the same functions. */
const SHORTEN = `
  for (const section of [...document.querySelectorAll("main > section[id^=tag-]")].slice(2)) section.remove();
  for (const section of document.querySelectorAll("main > section")) {
    for (const article of [...section.querySelectorAll("article")].slice(1)) article.remove();
  }`;

it.each(LOOKS)("has no violation of accessibility: $colorScheme, $width pixels wide", async (look) => {
  const page = await openPage(look);
  await page.goto("/docs/");
  if (process.env["LONG_RUN"] !== "1") await page.evaluate(SHORTEN);
  expect(await checkAccessibility(page)).toBe("");
});

it("does not scroll sideways on a phone, and leads to each section", async () => {
  const page = await openPage({ width: 360, height: 640 });
  await page.goto("/docs/");
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
  await page.getByRole("navigation", { name: "Contents" }).getByRole("link", { name: "Versions" }).click();
  await expect
    .poll(() => page.evaluate(() => document.querySelector("#tag-versions")!.getBoundingClientRect().top))
    .toBeLessThan(640);
});
