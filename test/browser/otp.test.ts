import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { base32 } from "../../src/model/ids.ts";
import { currentCode } from "../../src/model/totp.ts";
import { sendRequest } from "../sdk/support/requests.ts";
import { checkAccessibility } from "./support/accessibility.ts";
import { copyBy, readClipboard } from "./support/clipboard.ts";
import { injectFault } from "./support/faults.ts";
import { openPage, startPage } from "./support/page.ts";
import { seed, type Seeded } from "./support/seed.ts";

/** One-time codes, which the page computes, and references, which it copies. */

/** The seeds of RFC 6238 appendix B: repeated digits, with the length of the hash's output in bytes. */
const seedOf = (length: number) => base32(new TextEncoder().encode("1234567890".repeat(7).slice(0, length)));
const SEEDS = { SHA1: seedOf(20), SHA256: seedOf(32), SHA512: seedOf(64) } as const;
const uri = (algorithm: keyof typeof SEEDS, more = "&digits=8") =>
  `otpauth://totp/x?secret=${SEEDS[algorithm]}&algorithm=${algorithm}${more}`;

const otp = (label: string, value: string, more: object = {}) => ({ id: label, label, type: "OTP", value, ...more });
const ITEM = {
  title: "Codes",
  fields: [
    otp("SHA1", uri("SHA1")),
    otp("SHA256", uri("SHA256")),
    otp("SHA512", uri("SHA512")),
    otp("minute", uri("SHA1", "&period=60")),
    otp("bare", SEEDS.SHA1),
  ],
};

const SECTION = { section: { id: "s1" } };
const NAMED = {
  title: "Git/Hub",
  sections: [{ id: "s1", label: "Section one" }],
  fields: [
    { id: "f1", label: "pass word", type: "CONCEALED", value: "v1" },
    { id: "f2", label: "a/b", type: "STRING", value: "v2" },
    { id: "f3", label: "🔑", type: "STRING", value: "v3", ...SECTION },
    { id: "f4", label: "pass word", type: "STRING", value: "v4", ...SECTION },
    otp("one-time", uri("SHA1")),
  ],
};

/** The tests share a page, whose clock begins at 31 seconds of Unix time. It goes on where a test does not stop it. */
let page: Page;
let seeded: Seeded;

beforeAll(async () => {
  seeded = await seed([ITEM, NAMED]);
  const { page: opened, close } = await startPage({ token: seeded.token, fresh: true });
  page = opened;
  await page.clock.install({ time: 31_000 });
  await openItem(0);
  return close;
});

/** In: the place of the Item among those that the tests have. */
async function openItem(index: number): Promise<void> {
  await page.goto(`/console/#/items/${seeded.vault}/${seeded.items[index]}`);
  await page.getByRole("timer").first().waitFor();
}

const codes = () => page.locator(".otp .code").allTextContents();
const timers = () => page.getByRole("timer").allTextContents();
const html = () => page.evaluate<string>("document.documentElement.outerHTML");

describe("one-time codes", () => {
  it("are those of RFC 6238 and change at the end of their period", async () => {
    await page.clock.pauseAt(59_900);
    await expect.poll(() => codes()).toEqual(["9428 7082", "4611 9246", "9069 3936", "755 224", "287 082"]);
    expect(await timers()).toEqual(["1 s", "1 s", "1 s", "1 s", "1 s"]);
    await page.clock.runFor(200);
    expect(await timers()).toEqual(["30 s", "30 s", "30 s", "60 s", "30 s"]);
    await expect.poll(() => codes()).toEqual(["3735 9152", expect.any(String), expect.any(String), "287 082", "359 152"]);

    for (const [seconds, ...expected] of [
      [1111111109, "0708 1804", "6808 4774", "2509 1201"],
      [1111111111, "1405 0471", "6706 2674", "9994 3326"],
    ] as const) {
      const now = await page.evaluate<number>("Date.now()");
      await page.clock.fastForward(seconds * 1000 - now);
      await page.clock.runFor(100);
      await expect.poll(async () => (await codes()).slice(0, 3)).toEqual(expected);
    }
    await page.clock.resume(); // axe waits by timers
    expect(await checkAccessibility(page)).toBe("");
  });

  it("have no timer when no code is shown", async () => {
    await page.clock.pauseAt(1111111200_500);
    // Only timers that end with the second: the page has others, for example of its stream of events.
    await page.evaluate(`window.started = 0; const before = setTimeout;
      const counts = (delay) => Math.abs(delay + (Date.now() % 1000) - 1000) < 2;
      window.setTimeout = (run, delay, ...rest) => { window.started += Number(counts(delay)); return before(run, delay, ...rest); };`);
    await page.clock.runFor(5000);
    expect(await page.evaluate("started")).toBeGreaterThan(4);
    await page.evaluate("location.hash = '#/items'");
    await page.clock.runFor(100);
    await page.getByText("Select an item to see it here.").waitFor();
    await page.evaluate("window.started = 0");
    await page.clock.runFor(5000);
    expect(await page.evaluate("started")).toBeLessThan(3); // a timer that goes on would start 5
    expect(await html()).not.toContain(SEEDS.SHA1);
    await page.clock.resume();
  });

  it("are copied without the space between their groups, and their key shows for 30 seconds when asked for", async () => {
    await openItem(0);
    await page.clock.pauseAt(1111112000_000);
    await page.getByRole("button", { name: "Copy bare" }).click();
    await expect.poll(() => readClipboard(page)).toBe(currentCode(SEEDS.SHA1, 1111112000_000));
    await page.clock.resume();
    expect(await html()).not.toContain(SEEDS.SHA1);
    const more = page.getByRole("button", { name: "More actions for bare" });
    await more.press("Enter");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Tab");
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Reveal the key");
    await page.keyboard.press("Enter");
    await page.getByText(SEEDS.SHA1).waitFor();
    expect(await more.evaluate((button) => button === button.ownerDocument.activeElement)).toBe(true);
    // In steps: the timer of the 30 seconds begins with a frame after the text is shown.
    await page.clock.runFor(31_000);
    await expect.poll(() => html()).not.toContain(SEEDS.SHA1);
  });
});

it("a code is copied by the key O that was pressed while the Item, and then its script, were still being loaded", async () => {
  const own = await seed([{ title: "Early", fields: [{ id: "otp", type: "OTP", label: "code", value: "JBSWY3DPEHPK3PXP" }] }]);
  // A page that another test has used may have the script in its memory, from which no request is sent.
  const fresh = await openPage({ token: own.token, fresh: true });
  const item = await injectFault(fresh, "GET", "/v1/vaults/*/items/*", "held");
  // Before the page is opened: it may load its scripts ahead while it waits.
  const late = await injectFault(fresh, "GET", "/console/assets/one-time-password-*", "held");
  await fresh.goto("/console/");
  await fresh.locator(".rows").getByRole("link", { name: "Early" }).click();
  await expect.poll(() => item.requests.length).toBe(1);
  await fresh.keyboard.press("o");
  item.end();
  await fresh.getByRole("heading", { name: "Early" }).waitFor();
  expect(await fresh.getByRole("button", { name: "Copy code" }).count()).toBe(0);
  late.end();
  await fresh.getByText("Code copied").waitFor();
  expect(await readClipboard(fresh)).toMatch(/^\d{6}$/);
});

describe("references", () => {
  it("are copied from the menus of fields by the keyboard, and resolve to the values of the fields", async () => {
    await openItem(1);
    const copied: string[] = [];
    const menus = page.getByRole("button", { name: /^More actions for/ });
    for (let index = 0; index < NAMED.fields.length; index++) {
      const reference = await copyBy(page, async () => {
        await menus.nth(index).press("Enter");
        await page.keyboard.press("Enter"); // The first action has the focus.
      });
      copied.push(reference);
    }
    const item = `op://Team/${seeded.items[1]}`;
    expect(copied.toSorted()).toEqual(
      [
        `${item}/pass word`,
        `${item}/f2`,
        `${item}/Section one/f3`,
        `${item}/Section one/pass word`,
        `${item}/one-time?attribute=otp`,
      ].toSorted(),
    );
    const answer = await sendRequest("POST", "v1/resolve", seeded.token, { references: copied });
    const values = (answer as { values: { value?: string }[] }).values.map(({ value }) => value);
    expect(new Set(values)).toEqual(new Set(["v1", "v2", "v3", "v4", expect.stringMatching(/^\d{8}$/)]));
  });
});
