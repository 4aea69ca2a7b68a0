import type { Page } from "playwright-core";
import { describe, expect, inject, it } from "vitest";
import { makeToken, makeVault } from "../sdk/support/requests.ts";
import { checkLooks } from "./support/accessibility.ts";
import { reportOf } from "./support/faults.ts";
import { openPage } from "./support/page.ts";
import { login, makeItems, seed } from "./support/seed.ts";
import { signIn } from "./support/session.ts";

/** Home, in the place of an Item, and the marks of what needs attention. */

const part = (page: Page, name: string) => page.getByRole("region", { name, exact: true });
const linksOf = (page: Page, name: string) => part(page, name).getByRole("link");

describe("Home", () => {
  it("has what was opened last and what others have changed, and leads there", async () => {
    const { vault, token } = await seed();
    const other = (await makeToken({ [vault]: "rw" }, "uuid")).token;
    await makeItems(other, vault, [login("By another")]);
    await makeItems(token, vault, [login("First")]);
    await makeItems(token, vault, [login("Second")]);
    const page = await openPage({ token });
    await page.goto("/console/");
    await expect.poll(() => linksOf(page, "Recently used").locator(".name").allInnerTexts()).toEqual(["Second", "First"]);
    expect(await linksOf(page, "Changed by others").locator(".name").allInnerTexts()).toEqual(["By another"]);
    expect(await checkLooks(page)).toBe("");
    await linksOf(page, "Recently used").filter({ hasText: "First" }).click();
    await page.getByRole("heading", { name: "First" }).waitFor();
    await page.goBack();
    await expect.poll(() => linksOf(page, "Recently used").locator(".name").allInnerTexts()).toEqual(["First", "Second"]);
    await linksOf(page, "Due or weak").click();
    await page.getByRole("heading", { name: "Password check" }).waitFor();
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
    const page = await openPage();
    await page.route("**/v1/admin/people", (route) => route.fulfill({ json: [] }));
    await page.route("**/v1/admin/tokens", (route) => route.fulfill({ json: [] }));
    await reportOf(
      page,
      { service: "backups", status: "ACTIVE", message: "No backup yet" },
      { service: "tokens", status: "WARNING", message: "Tokens end", count: 12 },
    );
    await signIn(page, token, inject("secrets").ADMIN_TOKEN);
    const steps = linksOf(page, "First steps");
    await expect
      .poll(() => steps.allInnerTexts())
      .toEqual(["Bring your passwords", "Add a vault", "Give CI a token", "Invite somebody", "Back up"]);
    expect(await checkLooks(page)).toBe("");
    await steps.first().click();
    await page.getByRole("heading", { name: "Import" }).waitFor();
    await page.goBack();
    await part(page, "First steps").getByRole("button", { name: "Dismiss" }).click();
    expect(await page.evaluate("document.activeElement.localName")).not.toBe("body");
    await page.reload();
    await part(page, "Due or weak").waitFor();
    expect(await steps.count()).toBe(0);
  });

  it("leaves out the steps that are done, and those of an administrator", async () => {
    const [one, other] = [await makeVault("One"), await makeVault("Other")];
    const { token } = await makeToken({ [one]: "rw", [other]: "rw" }, "uuid");
    await makeItems(token, one, [login("Grafana")]);
    const page = await openPage();
    await page.route("**/v1/admin/people", (route) => route.fulfill({ json: [] }));
    await signIn(page, token, inject("secrets").ADMIN_TOKEN);
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
  it("is counted beside the views, told on Home, and marked on a phone", async () => {
    const { token } = await seed([login("Grafana")]);
    const page = await openPage();
    await reportOf(
      page,
      { service: "tokens", status: "WARNING", message: "Tokens end", count: 12 },
      { service: "backups", status: "ERROR", message: "The last backup failed" },
    );
    await signIn(page, token, inject("secrets").ADMIN_TOKEN);
    const views = page.getByRole("navigation", { name: "Views" });
    await views.getByRole("link", { name: /^Tokens\W+12\W+need attention$/ }).waitFor();
    await views.getByRole("link", { name: /^Backups\W+1\W+needs attention$/ }).waitFor();
    await views.getByRole("link", { name: /^Health\W+2\W+need attention$/ }).waitFor();
    await part(page, "Due or weak").getByText("12 tokens expire within 14 days.").waitFor();
    expect(await checkLooks(page)).toBe("");
    await page.setViewportSize({ width: 390, height: 780 });
    await page.getByRole("button", { name: /^More\W+something needs attention$/ }).waitFor();
    await reportOf(page, { service: "tokens", status: "ACTIVE", message: "No token ends" });
    await page.reload();
    await page.getByRole("button", { name: "More", exact: true }).waitFor();
  });
});
