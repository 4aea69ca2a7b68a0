import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { makeVault } from "../sdk/support/requests.ts";
import { dialogOf, openAsBoth, openView, press, see, views } from "./support/console.ts";
import { injectFault, revokeToken } from "./support/faults.ts";
import { expectProblem } from "./support/problems.ts";
import { issueToken } from "./support/rows.ts";
import { login, seed } from "./support/seed.ts";

/** The text of a new token, which no later answer contains: nothing takes it away without a warning. */

const issued = (page: Page) => dialogOf(page, "Token issued");
const textOf = (page: Page) => issued(page).locator("pre").innerText();
const copy = async (page: Page) => {
  await press(page, "Copy token");
  await see(page, "Token copied");
};

async function openTokens(): Promise<Page> {
  await makeVault("Opened");
  return openView("tokens");
}

describe("the text of a token that was not copied", () => {
  it("is kept by the browser's question before a reload, and by a warning before an address", async () => {
    const page = await openTokens();
    await issueToken(page, "kept", "Opened");
    const text = await textOf(page);
    expectProblem(page, /^beforeunload/);
    await Promise.all([page.waitForEvent("dialog"), page.evaluate("void setTimeout(() => location.reload())")]);
    await page.evaluate("location.hash = '#/vaults'");
    await see(issued(page), "You haven’t copied the token.");
    expect(await textOf(page)).toBe(text);
    await copy(page);
    await page.keyboard.press("Escape");
    expect(await issued(page).count()).toBe(0);
  });

  it("is waited for: the form warns before it is closed while the answer is on its way", async () => {
    const page = await openTokens();
    const request = await injectFault(page, "POST", "/v1/admin/tokens", "late");
    await issueToken(page, "waited for", "Opened");
    await request.answered;
    await page.keyboard.press("Escape");
    await see(dialogOf(page, "Issue token"), "The token is being created.");
    request.end();
    await see(issued(page), "Copy it now");
    expect(await textOf(page)).toContain("eyJ");
    await copy(page);
  });

  it("stays when another token ends that the session of the administrator has too", async () => {
    const { token, tokenId } = await seed([login("Open")]);
    const page = await openAsBoth(token, "tokens", { fresh: true });
    expectProblem(page, /401/);
    await issueToken(page, "stays", "Team");
    await see(issued(page), "Copy it now");
    await revokeToken(tokenId);
    // The page opens its stream of events again, which needs the token.
    const refused = page.waitForResponse((response) => response.status() === 401);
    for (const value of [true, false])
      await page.evaluate((hidden) => {
        Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
        document.dispatchEvent(new Event("visibilitychange"));
      }, value);
    await refused;
    await views(page).getByRole("link", { name: "All items" }).waitFor({ state: "detached" });
    expect(await dialogOf(page, "Your session has ended").count()).toBe(0);
    await copy(page);
  });
});
