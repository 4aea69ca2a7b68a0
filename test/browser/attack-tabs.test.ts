import { describe, expect, it } from "vitest";
import { stopFollowing } from "./support/faults.ts";
import { openPage } from "./support/page.ts";
import { expectProblem } from "./support/problems.ts";
import { login, seed } from "./support/seed.ts";
import { signInLink, signOut } from "./support/session.ts";

/** Two tabs of one browser, which have one cookie. */

describe("another tab", () => {
  it("hides what is open when the session is ended, and shows it again to the same person", async () => {
    const seeded = await seed([login("Open", { username: "shown-name" })]);
    const page = await openPage({ token: seeded.token });
    await page.goto(`/console/#/items/${seeded.vault}/${seeded.items[0]}`);
    const shown = page.locator("article").getByText("shown-name");
    await shown.waitFor();
    const other = await page.context().newPage();
    await other.goto("/console/");
    await signOut(other);
    await page.getByRole("dialog", { name: "Your session has ended" }).waitFor();
    expect(await shown.isVisible()).toBe(false);
    await other.getByLabel("Token").fill(seeded.token);
    await other.keyboard.press("Enter");
    await shown.waitFor();
    expect(await page.getByRole("dialog").count()).toBe(0);
  });

  it("does not write as somebody else who has signed in there", async () => {
    const [mine, theirs] = [await seed([login("Mine")]), await seed([login("Theirs")])];
    const page = await openPage({ token: mine.token });
    await page.goto(`/console/#/items/${mine.vault}/${mine.items[0]}/edit`);
    await page.getByRole("textbox", { name: "Title" }).fill("Typed");
    const other = await page.context().newPage();
    await other.goto(await signInLink(theirs.token));
    await other.getByRole("button", { name: "Use the link" }).click();
    await page.getByText("what was typed in it will be lost when you continue").waitFor();
    await page.getByRole("button", { name: "Continue" }).click();
    await page.locator(".rows").getByRole("link", { name: "Theirs" }).waitFor();
    expect(await page.content()).not.toContain("Mine");
  });
});

describe("a session", () => {
  it("is asked for again at the time at which it ends, without a request of the user", async () => {
    const seeded = await seed([login("Open")]);
    const page = await openPage({ token: seeded.token, fresh: true });
    await page.clock.install();
    await page.goto(`/console/#/items/${seeded.vault}/${seeded.items[0]}`);
    await page.getByRole("heading", { name: "Open" }).waitFor();
    await page.context().clearCookies();
    await page.clock.fastForward(12 * 60 * 60 * 1000);
    await page.getByRole("dialog", { name: "Your session has ended" }).waitFor();
    expect(await page.getByRole("heading", { name: "Open" }).isVisible()).toBe(false);
  });
});

it("an answer from before a sign-in in another tab does not end the session that the sign-in has made", async () => {
  const seeded = await seed([login("Open")]);
  const page = await openPage({ token: seeded.token });
  expectProblem(page, /401/);
  await stopFollowing(page);
  const listsLoaded = page.waitForRequest("**/v1/events?*"); // sent when all lists are loaded; the test sends all later requests
  await page.goto(`/console/#/items/${seeded.vault}/${seeded.items[0]}/edit`);
  await page.getByRole("textbox", { name: "Title" }).fill("Typed");
  await listsLoaded;
  await page.context().clearCookies();
  const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let held = false;
  await page.route("**/console/session", async (route) => {
    if (held) return route.continue();
    held = true;
    asked.resolve();
    await answered.promise;
    return route.fulfill({ status: 401, json: { status: 401, message: "Invalid token" } }); // as without a cookie
  });
  await page.getByRole("button", { name: "Save" }).click();
  await asked.promise;
  const other = await page.context().newPage();
  const checked = page.waitForResponse((response) => response.url().endsWith("/console/session") && response.ok());
  await other.goto(await signInLink(seeded.token));
  await checked;
  answered.resolve();
  await page.getByText("You are signed in again").waitFor();
  expect(await page.getByRole("dialog").count()).toBe(0);
});
