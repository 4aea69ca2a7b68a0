import type { Page } from "playwright-core";
import { beforeAll, describe, expect, inject, it } from "vitest";
import { makeVault } from "../sdk/support/requests.ts";
import { allowReading, readClipboard } from "./support/clipboard.ts";
import { fetchAsPage } from "./support/faults.ts";
import { openPage, startPage } from "./support/page.ts";
import { type Seeded, seed } from "./support/seed.ts";
import { signOut } from "./support/session.ts";

/**
 * When a copied secret leaves the clipboard. The tests' browser is Chromium; Firefox and WebKit are simulated by what they refuse: they
 * do not know the permissions, and a page writes to the clipboard only during a click or a key.
 */

const PASSWORD = "correct-horse-battery";
const ITEM = {
  title: "Grafana",
  fields: [
    { purpose: "USERNAME", value: "ada@example.com" },
    { purpose: "PASSWORD", value: PASSWORD },
  ],
};

let seeded: Seeded;
beforeAll(async () => {
  seeded = await seed([ITEM]);
});

const REFUSE_TIMERS = `
  const write = navigator.clipboard.writeText.bind(navigator.clipboard);
  navigator.clipboard.writeText = (text) =>
    ["click", "keydown"].includes(window.event?.type) ? write(text) : Promise.reject(new DOMException("", "NotAllowedError"));
  navigator.permissions.query = () => Promise.reject(new TypeError("unknown permission"));`;

/** Records which calls of the clipboard have ended. */
const RECORD_CALLS = `
  window.settled = [];
  for (const name of ["readText", "writeText"]) {
    const call = navigator.clipboard[name].bind(navigator.clipboard);
    navigator.clipboard[name] = (...values) => call(...values).finally(() => window.settled.push(name));
  }`;

async function settleCall(page: Page, name: "readText" | "writeText"): Promise<void> {
  await expect.poll(() => page.evaluate("window.settled")).toContain(name);
}

interface Engine {
  /** Whether the page may read the clipboard. */
  readonly reads: boolean;
  /** Whether a timer may clear it. */
  readonly timed: boolean;
}

const ENGINES = {
  "Chromium by default": { reads: false, timed: true },
  "Chromium that may read": { reads: true, timed: true },
  "Firefox and WebKit": { reads: false, timed: false },
} as const satisfies Readonly<Record<string, Engine>>;

/** Opens the Item in a page with a clock. */
async function openItem(page: Page, { reads, timed }: Engine): Promise<void> {
  await allowReading(page, reads);
  await page.goto("about:blank");
  await page.goto(`/console/#/items/${seeded.vault}/${seeded.items[0]}`);
  await page.getByRole("heading", { name: "Grafana" }).waitFor();
  if (!timed) await page.evaluate(REFUSE_TIMERS);
}

/** The clipboard, read so that the page does not notice. */
async function read(page: Page, { reads }: Engine): Promise<string> {
  const text = await readClipboard(page);
  await allowReading(page, reads);
  return text;
}

async function copyPassword(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Copy password" }).click();
  await page.getByText(/^Password copied/).waitFor();
}

/** What happens between the copy and the end of the minute. Headless Chromium has always the focus, so its loss is an event of the test. */
const leaveWindow = (page: Page) => page.evaluate(() => void dispatchEvent(new Event("blur")));
const MEANWHILE = {
  "the person stays": () => Promise.resolve(),
  "the person was in another window": leaveWindow,
  "something was copied in another window": async (page: Page) => {
    await leaveWindow(page);
    await page.evaluate("Clipboard.prototype.writeText.call(navigator.clipboard, 'other')");
  },
  "something was copied in the page": async (page: Page) => {
    await page.getByRole("heading", { name: "Grafana" }).selectText();
    await page.keyboard.press("Control+c");
  },
} as const;
type Meanwhile = keyof typeof MEANWHILE;

/** What the clipboard has before it is cleared. */
const THERE: Readonly<Record<Meanwhile, string>> = {
  "the person stays": PASSWORD,
  "the person was in another window": PASSWORD,
  "something was copied in another window": "other",
  "something was copied in the page": "Grafana",
};

const CASES = Object.entries(ENGINES).flatMap(([name, engine]) =>
  (Object.keys(MEANWHILE) as Meanwhile[]).map((meanwhile) => [name, meanwhile, engine] as const),
);
/** Whether only the person can tell what the clipboard has. */
const isUncertain = ({ reads }: Engine, meanwhile: Meanwhile): boolean => !reads && meanwhile !== "the person stays";

describe("a copied password", () => {
  let page: Page;
  beforeAll(async () => {
    const opened = await startPage({ token: seeded.token, fresh: true });
    page = opened.page;
    await page.clock.install();
    return opened.close;
  });

  it.each(CASES)("in %s, when %s: is cleared after 60 seconds, and what else was copied is not", async (_, meanwhile, engine) => {
    await openItem(page, engine);
    await copyPassword(page);
    await MEANWHILE[meanwhile](page);
    const there = THERE[meanwhile];
    const clear = page.getByRole("button", { name: "Clear", exact: true });
    const state = async () => ({ clipboard: await read(page, engine), asks: await clear.count() });
    await page.clock.runFor(59_000);
    expect(await state()).toEqual({ clipboard: there, asks: 0 });
    await page.evaluate(RECORD_CALLS);
    await page.clock.runFor(2_000);
    const asks = Number(isUncertain(engine, meanwhile));
    const cleared = there === "other" || there === "Grafana" ? there : "";
    // `state` changes the permissions, which would change the result of a call of the page that is under way.
    if (asks > 0) await clear.waitFor();
    else if (engine.timed) await settleCall(page, cleared === "" ? "writeText" : "readText");
    await expect.poll(state).toEqual({ clipboard: asks > 0 || !engine.timed ? there : cleared, asks });
    await (asks > 0 ? clear.click() : page.keyboard.press("ArrowDown"));
    await expect.poll(state).toEqual({ clipboard: asks > 0 ? "" : cleared, asks: 0 });
  });

  it.each([
    ["Chromium by default", "clears in 60 s"],
    ["Chromium that may read", "clears in 60 s"],
    ["Firefox and WebKit", "clears at your next click after 60 s"],
  ] as const)("in %s, the message says when the clipboard is cleared", async (name, text) => {
    await openItem(page, ENGINES[name]);
    await copyPassword(page);
    expect(
      await page
        .getByText(/^Password copied/)
        .last()
        .textContent(),
    ).toContain(text);
  });

  it("is cleared after 60 seconds, also when another value could not be copied in the meantime", async () => {
    const engine = ENGINES["Chromium by default"];
    await openItem(page, engine);
    await copyPassword(page);
    await page.evaluate("navigator.clipboard.writeText = () => Promise.reject(new Error('refused'))");
    await page.getByRole("button", { name: "Copy username" }).click();
    await page.getByText("blocked copying").waitFor();
    await page.evaluate("delete navigator.clipboard.writeText");
    await page.clock.runFor(61_000);
    await expect.poll(() => read(page, engine)).toBe("");
  });
});

it("a copy shows on the pressed button for a moment, is said to screen readers once, and leaves the message before", async () => {
  const page = await openPage({ token: seeded.token, fresh: true });
  await page.clock.install();
  await openItem(page, ENGINES["Chromium by default"]);
  await page.clock.pauseAt(Date.now() + 60_000);
  await page.getByRole("button", { name: "Favorite" }).click();
  const message = page.locator(".toast");
  await message.waitFor();
  const button = page.getByRole("button", { name: "Copy password" });
  await copyPassword(page);
  expect([await page.locator("[data-flash]").count(), await button.getAttribute("data-flash")]).toEqual([1, "Copied for 60 s"]);
  const shown = await button.evaluate((element) => getComputedStyle(element, "::after").content);
  expect(shown).toContain("✓");
  const said = page.getByRole("status").getByText(/copied/);
  expect([await said.count(), await message.getByText(/copied/).count(), await message.count()]).toEqual([1, 0, 1]);
  // An action of a menu shows on the button of the menu.
  const menu = page.getByRole("button", { name: "More actions for username" });
  await menu.click();
  await page.getByRole("button", { name: "Copy reference" }).click();
  await expect.poll(() => menu.getAttribute("data-flash")).toBe("Copied");
  expect(await button.getAttribute("data-flash")).toBeNull();
  await page.clock.runFor(2_000);
  expect(await page.locator("[data-flash]").count()).toBe(0);
});

it("an empty value does not replace what was copied before", async () => {
  const page = await openPage({ token: inject("secrets").ADMIN_TOKEN });
  const name = `Empty ${seeded.vault}`;
  await makeVault(name);
  await page.route("**/v1/admin/tokens", async (route) => {
    if (route.request().method() !== "POST") return route.continue();
    const response = await fetchAsPage(route);
    return route.fulfill({ response, json: { ...((await response.json()) as object), token: "" } });
  });
  await page.goto("/console/#/tokens");
  await page.getByRole("button", { name: "Issue token" }).first().click();
  const form = page.getByRole("dialog", { name: "Issue token" });
  await form.getByLabel("Name", { exact: true }).fill("empty");
  await form.getByRole("checkbox", { name: `Read: ${name}` }).check();
  await form.getByRole("button", { name: "Issue token" }).click();
  await page.getByRole("button", { name: "Copy as shell variables" }).click();
  await page.getByText("Lines copied").waitFor();
  await page.getByRole("button", { name: "Copy token" }).click();
  await page.getByText("Token is empty. Nothing was copied.").waitFor();
  expect(await readClipboard(page)).toContain("export ITEM_VAULT_TOKEN=");
});

describe("signing out", () => {
  it("asks while a message asks whether the clipboard is cleared, and clears it", async () => {
    const engine = ENGINES["Chromium by default"];
    const page = await openPage({ token: seeded.token, fresh: true });
    await page.clock.install();
    await openItem(page, engine);
    await copyPassword(page);
    await leaveWindow(page);
    await page.clock.runFor(61_000);
    await page.getByRole("button", { name: "Clear", exact: true }).waitFor();
    await signOut(page);
    await page.getByRole("button", { name: "Clear it and sign out" }).click();
    await page.getByLabel("Token").waitFor();
    expect(await read(page, engine)).toBe("");
  });

  it.each(Object.entries(ENGINES))("clears the clipboard, in %s", async (_, engine) => {
    const page = await openPage({ token: seeded.token, fresh: true });
    await openItem(page, engine);
    await copyPassword(page);
    await signOut(page);
    await page.getByLabel("Token").waitFor();
    expect(await read(page, engine)).toBe("");
  });

  it.each([
    ["Sign out only", "other"],
    ["Clear it and sign out", ""],
  ] as const)("asks when something else may be in the clipboard: %s", async (answer, left) => {
    const engine = ENGINES["Chromium by default"];
    const page = await openPage({ token: seeded.token, fresh: true });
    await openItem(page, engine);
    await copyPassword(page);
    await MEANWHILE["something was copied in another window"](page);
    await signOut(page);
    await page.getByRole("button", { name: answer }).click();
    await page.getByLabel("Token").waitFor();
    expect(await read(page, engine)).toBe(left);
  });
});
