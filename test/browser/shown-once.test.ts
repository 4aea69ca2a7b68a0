import type { Page } from "playwright-core";
import { describe, expect, inject, it } from "vitest";
import { makeVault } from "../sdk/support/requests.ts";
import { injectFault, revokeToken } from "./support/faults.ts";
import { openPage } from "./support/page.ts";
import { expectProblem } from "./support/problems.ts";
import { login, seed } from "./support/seed.ts";
import { signIn } from "./support/session.ts";

/** The text of a new token, which no later answer contains: nothing takes it away without a warning. */

const dialogOf = (page: Page, name: string) => page.getByRole("dialog", { name });

/** Sends the form of a new token. */
async function issue(page: Page, name: string): Promise<void> {
  await page.getByRole("button", { name: "Issue token" }).first().click();
  const form = dialogOf(page, "Issue token");
  await form.getByLabel("Name", { exact: true }).fill(name);
  await form.getByRole("checkbox", { name: "Read: Opened" }).first().check();
  await form.getByRole("button", { name: "Issue token" }).click();
}

async function openTokens(): Promise<Page> {
  await makeVault("Opened");
  const page = await openPage({ token: inject("secrets").ADMIN_TOKEN });
  await page.goto("/console/#/tokens");
  return page;
}

describe("the text of a token that was not copied", () => {
  it("is kept by the browser's question before a reload, and by a warning before an address", async () => {
    const page = await openTokens();
    await issue(page, "kept");
    const shown = dialogOf(page, "Token issued");
    const text = await shown.locator("pre").innerText();
    expectProblem(page, /^beforeunload/);
    await Promise.all([page.waitForEvent("dialog"), page.evaluate("void setTimeout(() => location.reload())")]);
    await page.evaluate("location.hash = '#/vaults'");
    await shown.getByText("You haven’t copied the token.").waitFor();
    expect(await shown.locator("pre").innerText()).toBe(text);
    await shown.getByRole("button", { name: "Copy token" }).click();
    await page.getByText("Token copied").waitFor();
    await page.keyboard.press("Escape");
    expect(await shown.count()).toBe(0);
  });

  it("is waited for: the form warns before it is closed while the answer is on its way", async () => {
    const page = await openTokens();
    const request = await injectFault(page, "POST", "/v1/admin/tokens", "late");
    await issue(page, "waited for");
    await request.answered;
    await page.keyboard.press("Escape");
    await dialogOf(page, "Issue token").getByText("The token is being created.").waitFor();
    request.end();
    await dialogOf(page, "Token issued").getByText("Copy it now").waitFor();
    expect(await dialogOf(page, "Token issued").locator("pre").innerText()).toContain("eyJ");
    await page.getByRole("button", { name: "Copy token" }).click();
    await page.getByText("Token copied").waitFor();
  });

  it("stays when another token ends that the session of the administrator has too", async () => {
    const { token, tokenId } = await seed([login("Open")]);
    const page = await openPage({ fresh: true });
    expectProblem(page, /401/);
    await signIn(page, token, inject("secrets").ADMIN_TOKEN);
    await page.goto("/console/#/tokens");
    await issue(page, "stays");
    const shown = dialogOf(page, "Token issued");
    await shown.getByText("Copy it now").waitFor();
    await revokeToken(tokenId);
    // The page opens its stream of events again, which needs the token.
    const refused = page.waitForResponse((response) => response.status() === 401);
    for (const value of [true, false])
      await page.evaluate((hidden) => {
        Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
        document.dispatchEvent(new Event("visibilitychange"));
      }, value);
    await refused;
    await page.getByRole("navigation", { name: "Views" }).getByRole("link", { name: "All items" }).waitFor({ state: "detached" });
    expect(await dialogOf(page, "Your session has ended").count()).toBe(0);
    await shown.getByRole("button", { name: "Copy token" }).click();
    await page.getByText("Token copied").waitFor();
  });
});
