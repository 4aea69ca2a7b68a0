import type { Page } from "playwright-core";
import { describe, expect, inject, it } from "vitest";
import { makeToken, makeVault } from "../sdk/support/requests.ts";
import { checkLooks } from "./support/accessibility.ts";
import { heading, link, press, see, views } from "./support/console.ts";
import { reportOf } from "./support/faults.ts";
import { openPage } from "./support/page.ts";
import { login, makeItems, seed } from "./support/seed.ts";
import { signIn } from "./support/session.ts";

/** Home, in the place of an Item, and the marks of what needs attention. */

const part = (page: Page, name: string) => page.getByRole("region", { name, exact: true });
const linksOf = (page: Page, name: string) => part(page, name).getByRole("link");
const namesOf = (page: Page, name: string) => linksOf(page, name).locator(".name").allInnerTexts();
/** Home of an administrator to whom the service reports these parts, and that has no people, tokens and webhooks. */
async function openHome(token: string, ...report: readonly object[]): Promise<Page> {
  const page = await openPage();
  for (const list of ["people", "tokens", "vaults"])
    await page.route(`**/v1/admin/${list}`, (route) => route.fulfill({ json: [] }));
  if (report.length > 0) await reportOf(page, ...report);
  await signIn(page, token, inject("secrets").ADMIN_TOKEN);
  return page;
}
const TOKENS = { service: "tokens", status: "WARNING", message: "Tokens end", count: 12 };

describe("Home", () => {
  it("has what was opened last and what others have changed, and leads there", async () => {
    const { vault, token } = await seed();
    const other = (await makeToken({ [vault]: "rw" }, "uuid")).token;
    await makeItems(other, vault, [login("By another")]);
    for (const title of ["First", "Second"]) await makeItems(token, vault, [login(title)]);
    const page = await openPage({ token });
    await page.goto("/console/");
    await expect.poll(() => namesOf(page, "Recently used")).toEqual(["Second", "First"]);
    expect(await namesOf(page, "Changed by others")).toEqual(["By another"]);
    expect(await checkLooks(page)).toBe("");
    await linksOf(page, "Recently used").filter({ hasText: "First" }).click();
    await heading(page, "First").waitFor();
    await page.goBack();
    await expect.poll(() => namesOf(page, "Recently used")).toEqual(["First", "Second"]);
    await linksOf(page, "Due or weak").click();
    await heading(page, "Password check").waitFor();
  });

  it("has no Item that the session may not read", async () => {
    const { token } = await seed([login("Only listed")], { permission: "l" });
    const page = await openPage({ token });
    await page.goto("/console/");
    await page.getByRole("link", { name: "Only listed" }).waitFor();
    await page.locator(".home > [aria-busy]").waitFor({ state: "detached" });
    for (const name of ["Changed by others", "Due or weak"]) expect(await part(page, name).count()).toBe(0);
  });

  it("has the first steps that are not done, until they are dismissed, also after a reload", async () => {
    const { token } = await seed();
    const page = await openHome(token, { service: "backups", status: "ACTIVE", message: "No backup yet" }, TOKENS);
    const steps = linksOf(page, "First steps");
    await expect
      .poll(() => steps.allInnerTexts())
      .toEqual(["Bring your passwords", "Add a vault", "Give CI a token", "Invite somebody", "Back up"]);
    expect(await checkLooks(page)).toBe("");
    await steps.first().click();
    await heading(page, "Import").waitFor();
    await page.goBack();
    await press(part(page, "First steps"), "Dismiss");
    expect(await page.evaluate("document.activeElement.localName")).not.toBe("body");
    await page.reload();
    await part(page, "Due or weak").waitFor();
    expect(await steps.count()).toBe(0);
  });

  it("leaves out the steps that are done, and those of an administrator", async () => {
    const [one, other] = [await makeVault("One"), await makeVault("Other")];
    const { token } = await makeToken({ [one]: "rw", [other]: "rw" }, "uuid");
    await makeItems(token, one, [login("Grafana")]);
    const page = await openHome(token);
    await page.unroute("**/v1/admin/tokens");
    await page.reload();
    await expect.poll(() => linksOf(page, "First steps").allInnerTexts()).toContain("Invite somebody");
    for (const done of ["Bring your passwords", "Add a vault", "Give CI a token"])
      expect(await linksOf(page, "First steps").allInnerTexts()).not.toContain(done);
    const user = await openPage({ token });
    await user.goto("/console/");
    await part(user, "Recently used").waitFor();
    expect(await part(user, "First steps").count()).toBe(0);
  });
});

describe("what needs attention", () => {
  it("of webhooks is told before their view was open", async () => {
    const { token, vault } = await seed([login("Grafana")]);
    const page = await openHome(token);
    await page.route("**/v1/admin/vaults", (route) => route.fulfill({ json: [{ id: vault, name: "Hooked", webhooks: 1 }] }));
    const webhook = { id: "1", url: "https://fails.example/", state: "PAUSED", failures: 9, pending: 0 };
    await page.route("**/webhooks", (route) => route.fulfill({ json: [webhook] }));
    await page.reload();
    await link(views(page), /^Webhooks\W+1\W+needs attention$/).waitFor();
    expect(await part(page, "Due or weak").innerText()).toContain("1 webhook fails.");
  });

  it("is counted beside the views, told on Home, and marked on a phone", async () => {
    const { token } = await seed([login("Grafana")]);
    const page = await openHome(token, TOKENS, { service: "backups", status: "ERROR", message: "The last backup failed" });
    for (const name of [
      /^Tokens\W+12\W+need attention$/,
      /^Backups\W+1\W+needs attention$/,
      /^Health\W+2\W+need attention$/,
      /^Keys$/,
    ])
      await link(views(page), name).waitFor();
    await see(part(page, "Due or weak"), "12 tokens expire within 14 days.");
    expect(await checkLooks(page)).toBe("");
    await page.setViewportSize({ width: 390, height: 780 });
    await page.getByRole("button", { name: /^More\W+something needs attention$/ }).waitFor();
    await reportOf(page, { service: "tokens", status: "ACTIVE", message: "No token ends" });
    await page.reload();
    await page.getByRole("button", { name: "More", exact: true }).waitFor();
  });
});
