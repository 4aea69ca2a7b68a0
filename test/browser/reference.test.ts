import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { checkAccessibility } from "./support/accessibility.ts";
import { startPage } from "./support/page.ts";

/** The reference of the API below /docs/ (contract 19.10). The tests also fail if a page sends a request to another origin. */

/** The headers of these files: the rule of `/docs/*` in the file that Cloudflare reads, after the rule of all files. */
const HEADERS = ["/*", "/docs/*"].flatMap((path) =>
  readFileSync("scripts/build/static/_headers", "utf8")
    .split(/\n(?=\/)/)
    .find((rule) => rule.startsWith(`${path}\n`))!
    .split("\n")
    .flatMap((line) => (/^ {2}[\w-]+: /.test(line) ? [line.trim().split(": ") as [name: string, value: string]] : [])),
);

/** Leaves one operation of each page. axe takes seconds for all, which are made by the same functions. */
const SHORTEN = `for (const article of [...document.querySelectorAll("article")].slice(1)) article.remove();`;

/** The tests share the page in their order, because reading and laying it out takes most of their time. */
let page: Page;
let headers: Record<string, string>;
const requests: string[] = [];

beforeAll(async () => {
  const opened = await startPage({ origins: ["https://vault.example.com"] });
  page = opened.page;
  page.on("request", (request) => requests.push(new URL(request.url()).pathname));
  const response = await page.goto("/docs/");
  headers = await response!.allHeaders();
  return opened.close;
});

it("has the headers of static files, with the policy of the console", () => {
  for (const [name, value] of new Map(HEADERS)) expect(headers).toHaveProperty(name.toLowerCase(), value);
});

it("requests itself, its script, its stylesheet and the icon only, and gets no cookie", async () => {
  expect(new Set(requests).difference(new Set(["/docs/", "/docs/reference.js", "/docs/style.css", "/console/icon.svg"]))).toEqual(
    new Set(),
  );
  expect(await page.context().cookies()).toEqual([]);
});

it("skips the navigation from the first link", async () => {
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await expect.poll(() => page.url()).toContain("/docs/#main");
});

const search = () => page.getByRole("combobox", { name: "Search tasks, operations, schemas, errors and rules" });

async function openSearch(): Promise<void> {
  await page.getByRole("button", { name: /^Search/ }).waitFor(); // The script of the page has run.
  await page.keyboard.press("Control+k");
}

describe("the search", () => {
  it.each([
    ["an operation by its route", "POST /v1/vaults/{vault}/items", "/docs/items/#createItem"],
    ["a schema", "ItemSummary", "/docs/schemas/#ItemSummary"],
    ["a kind of error", "version_skew", "/docs/errors/#version_skew"],
    ["a rule of the contract", "10.7", "/docs/contract/#10.7"],
  ])("finds %s by keyboard alone", async (_, text, address) => {
    await openSearch();
    await search().fill(text);
    await expect.poll(() => page.getByRole("option", { selected: true }).textContent()).toContain(text);
    await page.keyboard.press("Enter");
    await expect.poll(() => page.url()).toContain(address);
    const target = `[id="${address.split("#")[1]}"]`;
    await expect.poll(() => page.locator(target).isVisible()).toBe(true);
  });

  it("says that nothing is found, and closes with Escape", async () => {
    await openSearch();
    await search().fill("zzz no such thing");
    await expect.poll(() => page.getByRole("dialog").getByRole("status").textContent()).toBe("0 found");
    await page.keyboard.press("Escape");
    expect(await search().isVisible()).toBe(false);
  });
});

const article = () => page.locator("#listVaults");

describe("an operation", () => {
  beforeAll(async () => void (await page.goto("/docs/vaults/")));

  it("has samples that one click copies", async () => {
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await article().getByText("TypeScript", { exact: true }).click();
    await article().getByRole("button", { name: "Copy" }).filter({ visible: true }).click();
    await expect.poll(() => article().getByRole("button", { name: "Copied" }).isVisible()).toBe(true);
    expect(await page.evaluate("navigator.clipboard.readText()")).toContain('client.call("GET /v1/vaults")');
  });

  it("that reads can be tried on this machine: the answer is shown, and no cookie is sent", async () => {
    await article().getByText("Try it").click();
    await article().getByLabel("Bearer token").fill("not a token");
    const sent = page.waitForRequest((request) => request.url().endsWith("/v1/vaults"));
    await article().getByRole("button", { name: "Send GET" }).click();
    expect((await (await sent).allHeaders())["authorization"]).toBe("Bearer not a token");
    await expect.poll(() => article().getByRole("status").textContent()).toBe("401 unauthorized");
    expect(await article().getByLabel("Answer").textContent()).toContain("Invalid token signature");
    expect(page.url()).not.toContain("token");
  });

  it("that writes cannot be tried", async () => {
    await page.goto("/docs/items/");
    expect(await page.locator("#getItem").getByText("Try it").count()).toBe(1);
    expect(await page.locator("#deleteItem").getByText("Try it").count()).toBe(0);
  });

  it("cannot be tried on a host that is not this machine", async () => {
    const [host, path] = [new URL(page.url()), "/docs/items/"];
    await page.route("https://vault.example.com/**", async (route) => {
      const { pathname } = new URL(route.request().url());
      await route.fulfill({ response: await route.fetch({ url: host.origin + pathname }) });
    });
    await page.goto(`https://vault.example.com${path}`);
    await expect.poll(() => page.getByRole("button", { name: "Search" }).count()).toBe(1);
    expect(await page.getByText("Try it").count()).toBe(0);
    await page.goto(host.origin + path);
  });
});

it.each([360, 1024, 1440])("does not scroll sideways at %d pixels, on any kind of page", async (width) => {
  await page.setViewportSize({ width, height: 800 });
  for (const name of ["", "items/", "errors/", "schemas/", "contract/"]) {
    await page.goto(`/docs/${name}`);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(width);
  }
});

it.each([
  ["dark", 360, "look", "items/"],
  ["light", 1280, "all", "items/"],
  ["dark", 1280, "look", "contract/"],
  ["light", 360, "look", "errors/"],
] as const)(
  "has no violation of accessibility in the %s scheme, %d pixels wide (%s rules, %s)",
  async (colorScheme, width, rules, path) => {
    await page.goto(`/docs/${path}`);
    await page.setViewportSize({ width, height: 640 });
    await page.emulateMedia({ colorScheme });
    if (process.env["LONG_RUN"] !== "1") await page.evaluate(SHORTEN);
    expect(await checkAccessibility(page, rules)).toBe("");
  },
);
