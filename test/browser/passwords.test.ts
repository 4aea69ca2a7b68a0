import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { admin, makeToken, makeVault, sendRequest } from "../sdk/support/requests.ts";
import { checkLooks } from "./support/accessibility.ts";
import { button, endedDialog, heading, openView, press, see, views } from "./support/console.ts";
import { injectFault, revokeToken } from "./support/faults.ts";
import { openPage } from "./support/page.ts";
import { expectProblem } from "./support/problems.ts";
import { login, makeItems, type NewItem, seed, type Seeded } from "./support/seed.ts";

/** The check of passwords: what it finds, what it reads, and what it leaves. */

const STRONG = "vK7.tq2_Rm9!xWc4";
const DAY_MS = 86_400_000;

/** A password of its own for each Item. */
const strong = (index: number): string => `${STRONG}${index}`;
const alike = (count: number) => Array.from({ length: count }, (_, index) => login(`Item ${index}`, { password: STRONG }));

const dayIn = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10);
const dated = (title: string, value: string, field: object = {}): NewItem => ({
  title,
  category: "API_CREDENTIAL",
  fields: [{ id: "expires", label: "expires", type: "DATE", value, ...field }],
});

async function openCheck(items: readonly NewItem[], { fresh = false } = {}): Promise<Seeded & { readonly page: Page }> {
  const seeded = await seed(items, { permission: "r" });
  const page = await openView("passwords", { token: seeded.token, fresh });
  await startButton(page, items.length).waitFor();
  return { ...seeded, page };
}

/** The check of a session with two vaults, of which the first has Items with one password. */
async function openVaults() {
  const [first, second] = [await makeVault("First"), await makeVault("Second")];
  const { token } = await makeToken({ [first]: "rw", [second]: "rw" }, "uuid");
  await makeItems(token, first, [login("One", { password: STRONG }), login("Two", { password: STRONG })]);
  await makeItems(token, second, [login("Three", { password: STRONG })]);
  const page = await openView("passwords", { token });
  await startButton(page, 3).waitFor();
  return { page, first, second };
}

const startButton = (page: Page, count: number) => button(page, `Check ${count} item${count === 1 ? "" : "s"}`);
const part = (page: Page, title: string) => page.getByRole("region", { name: title, exact: true });

async function runCheck(page: Page, count: number): Promise<void> {
  await startButton(page, count).click();
  await page.getByText(/items? checked/).waitFor();
}

/** The findings of a part, each as its note and the titles of its Items. */
const findingsOf = async (page: Page, title: string): Promise<string[]> => {
  const texts = await part(page, title).getByRole("listitem").allInnerTexts();
  return texts.map((text) => text.replaceAll(/\s+/g, " ").replaceAll(" Team", ""));
};

/** The paths of the Items that the page reads from now on. */
function watchReads(page: Page): string[] {
  const reads: string[] = [];
  page.on("request", (request) => {
    const { pathname } = new URL(request.url());
    if (/\/items\/[^/]+$/.test(pathname)) reads.push(pathname);
  });
  return reads;
}

describe("the check of passwords", () => {
  it("reads one vault, where that is chosen, and all when it is deleted", async () => {
    const { page, first } = await openVaults();
    await page.getByLabel("Vaults to check").selectOption("First");
    await runCheck(page, 2);
    expect(await findingsOf(page, "Reused")).toEqual(["In 2 items One First Two First"]);
    await admin("DELETE", `vaults/${first}`);
    await runCheck(page, 1);
    expect(await findingsOf(page, "Reused")).toEqual([]);
  });

  it("reads nothing before its button, and then each Item once, without those of the archive", async () => {
    const seeded = await seed([0, 1, 2, 3].map((index) => login(`Item ${index}`, { password: strong(index) })));
    const path = (item: string) => `/v1/vaults/${seeded.vault}/items/${item}`;
    await sendRequest("POST", `${path(seeded.items[3]!).slice(1)}/archive`, seeded.token);
    const page = await openPage({ token: seeded.token });
    const reads = watchReads(page);
    await page.goto("/console/#/items");
    await views(page).getByRole("link", { name: "Password check" }).click();
    await startButton(page, 3).waitFor();
    expect(reads).toEqual([]);
    await runCheck(page, 3);
    await see(page, "3 items checked");
    expect(reads.toSorted()).toEqual(seeded.items.slice(0, 3).map(path).toSorted());
    for (const title of ["Reused", "Weak", "Old", "Due"]) await heading(part(page, title), `${title}: none`).waitFor();
  });

  it("finds Items with the same password, and takes that of no other field for it", async () => {
    const { page } = await openCheck([
      login("Mail", { password: STRONG }),
      login("Bank", { password: STRONG }),
      login("Shop", { password: strong(1) }),
      { title: "Server", fields: [{ id: "password", label: "password", type: "CONCEALED", value: strong(1) }] },
    ]);
    await runCheck(page, 4);
    expect(await findingsOf(page, "Reused")).toEqual(["In 2 items Bank Mail"]);
    expect(await checkLooks(page)).toBe("");
    expect(await page.content()).not.toContain(STRONG);
  });

  it("finds passwords that are easily guessed, and says why without them", async () => {
    const cases: readonly (readonly [title: string, password: string, why: string | undefined])[] = [
      ["Eight letters", "gbxqwpzk", "Short or simple (at most 37 bits)"],
      ["Digits", "123456789012345678901234", "Short or simple"],
      ["Leet", "!!P4$$w0rd2024..", "A common password"],
      ["Season", "Summer-2024/2025", "A common password"],
      ["Observatory", "observatory##20242025", "Made of the title or the username"],
      ["User name", "ada$$$$1815/1852/AA", undefined],
      ["Its user name", "1815/grace-hopper", undefined],
      ["Only its user name", "**grace2024--1906**", "Made of the title or the username"],
      ["Repeated", "Xy7!Xy7!Xy7!Xy7!", "Repeated characters"],
      ["Random", STRONG, undefined],
      ["Words", "correct horse battery staple", undefined],
    ];
    const { page } = await openCheck(cases.map(([title, password]) => login(title, { username: "grace", password })));
    await runCheck(page, cases.length);
    const found = await findingsOf(page, "Weak");
    const weak = cases.filter(([, , why]) => why !== undefined);
    for (const [title, , why] of weak) expect(found.find((text) => text.endsWith(` ${title}`)) ?? title).toContain(why);
    expect(found).toHaveLength(weak.length);
    for (const [, password] of cases) expect(await page.content()).not.toContain(password);
  });

  it("finds Items with a date `expires` that is past or within 30 days", async () => {
    const { page } = await openCheck([
      dated("Today", dayIn(0)),
      dated("Soon", dayIn(29)),
      dated("Later", dayIn(32)),
      dated("Past", "2020-03-01"),
      dated("In seconds", "1583020800"),
      dated("Empty", ""),
      dated("Capitals", "2020-03-01", { label: " Expires" }),
      dated("Another label", "2020-03-01", { label: "valid from" }),
      dated("A text", "2020-03-01", { type: "STRING" }),
    ]);
    await runCheck(page, 9);
    const found = await findingsOf(page, "Due");
    expect(found.filter((text) => text.startsWith("Expired on 1 Mar 2020")).map((text) => text.slice(22))).toEqual([
      "Capitals",
      "In seconds",
      "Past",
    ]);
    expect(found.filter((text) => text.startsWith("Expires on")).map((text) => text.split(" ").at(-1))).toEqual([
      "Soon",
      "Today",
    ]);
    expect(found).toHaveLength(5);
  });

  it("finds Items with a password that nobody has changed for a year", async () => {
    const { page } = await openCheck([login("Forgotten", { password: STRONG }), { title: "Without a password" }], {
      fresh: true,
    });
    await runCheck(page, 2);
    expect(await findingsOf(page, "Old")).toEqual([]);
    await page.clock.setFixedTime(Date.now() + 366 * DAY_MS);
    await runCheck(page, 2);
    expect(await findingsOf(page, "Old")).toEqual([expect.stringMatching(/^Last changed on .*, or before Forgotten$/)]);
  });

  it("names an Item that cannot be read, and checks the others", async () => {
    const { page, vault, items } = await openCheck(alike(6));
    expectProblem(page, /500/);
    await injectFault(page, "GET", `/v1/vaults/${vault}/items/${items[0]}`, { status: 500, kind: "integrity" });
    await runCheck(page, 6);
    await see(page, "5 items checked");
    expect(await findingsOf(page, "Not read")).toEqual(["This record is damaged. Tell the administrator of the service. Item 0"]);
    expect(await findingsOf(page, "Reused")).toEqual(["In 5 items Item 1 Item 2 Item 3 Item 4 Item 5"]);
  });

  it("is stopped, and shows what it has found until then", async () => {
    const { page, vault } = await openCheck(alike(8));
    const reads = watchReads(page);
    const { end } = await injectFault(page, "GET", `/v1/vaults/${vault}/items/*`, "held");
    await startButton(page, 8).click();
    await see(page, "0 of 8 items");
    await expect.poll(() => reads.length).toBeGreaterThan(0);
    await press(page, "Stop");
    end();
    await see(page, /^\d items? checked; \d items? not tried\.$/);
    expect(reads.length).toBeLessThan(8);
  });

  it("leads to an Item in a tab of its own, and drops what it has found when the view is left, and when the session ends", async () => {
    const { page, tokenId } = await openCheck([login("Found", { password: "secret" })]);
    await runCheck(page, 1);
    const found = part(page, "Weak").getByRole("link", { name: /^Found/ });
    const [tab] = await Promise.all([page.context().waitForEvent("page"), found.click()]);
    await heading(tab, "Found").waitFor();
    expect(await found.count()).toBe(1);
    await tab.close();
    await page.goto("/console/#/health");
    await heading(page, "Health").waitFor();
    await page.goto("/console/#/passwords");
    await startButton(page, 1).waitFor();
    expect(await part(page, "Weak").count()).toBe(0);
    await runCheck(page, 1);
    expectProblem(page, /401/);
    await revokeToken(tokenId);
    await page.evaluate(`fetch("/v1/token", { headers: { "Item-Vault-Console": "1" } })`);
    await page.evaluate("dispatchEvent(new Event('focus'))");
    await endedDialog(page).waitFor();
    await expect.poll(() => page.locator(".findings").count()).toBe(0);
  });
});
