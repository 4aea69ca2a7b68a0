import type { Page } from "playwright-core";
import { expect, inject, it } from "vitest";
import { makeVault } from "../sdk/support/requests.ts";
import { checkAccessibility } from "./support/accessibility.ts";
import { refuseCopying } from "./support/clipboard.ts";
import { dialogsOf } from "./support/dialogs.ts";
import { injectFault } from "./support/faults.ts";
import { coveredButtons, keepMessages } from "./support/layout.ts";
import { openPage } from "./support/page.ts";
import { expectProblem } from "./support/problems.ts";
import { login, seed } from "./support/seed.ts";

/** Messages: they never cover what is pressed next. */

const BLOCKED = "Your browser blocked copying.";

/** Opens the form of an Item, with a changed title, below the last of three messages. */
async function openForm(title: string): Promise<Page> {
  const { vault, items, token } = await seed([login(title)]);
  const page = await openPage({ token });
  await page.goto(`/console/#/items/${vault}/${items[0]}`);
  await page.getByRole("heading", { name: title }).waitFor();
  await keepMessages(page);
  await refuseCopying(page);
  for (const name of ["Copy password", "Copy username", "Copy password"]) await page.getByRole("button", { name }).click();
  await page.getByRole("link", { name: "Edit" }).click();
  await page.getByLabel("Title").fill("Covered by nothing");
  // One message at a time.
  await expect.poll(() => page.locator(".toast").allInnerTexts()).toEqual([expect.stringContaining(BLOCKED)]);
  return page;
}

it("a message covers no button of a form, and the form covers no message, wide and on a phone", async () => {
  const page = await openForm("Covered");
  for (const width of [390, 1024]) {
    await page.setViewportSize({ width, height: 780 });
    const covered = await coveredButtons(page);
    expect([covered.includes("Save"), covered.includes("Cancel")]).toEqual([false, false]);
    // Playwright refuses a click that something else would get.
    for (const dismiss of await page.getByRole("button", { name: "Dismiss" }).all()) await dismiss.click({ trial: true });
  }
  expect(await checkAccessibility(page, "look")).toBe("");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("heading", { name: "Covered by nothing" }).waitFor();
});

it("a message does not cover why a form was not saved, wide and on a phone", async () => {
  const page = await openForm("Refused");
  expectProblem(page, /403/);
  await injectFault(page, "PATCH", "/v1/vaults/*/items/*", { status: 403, kind: "out_of_scope" });
  await page.getByRole("button", { name: "Save" }).click();
  const reason = page.getByRole("alert").getByText("You don’t have permission");
  for (const width of [390, 1024]) {
    await page.setViewportSize({ width, height: 780 });
    await reason.click({ trial: true });
  }
});

/** The messages in the dialog that is open. */
const inDialog = (page: Page) => page.locator("dialog:modal .toast");

it("a message covers no button of a dialog in which it was made, and is as high as its text", async () => {
  const page = await openPage({ token: inject("secrets").ADMIN_TOKEN });
  await issueToken(page, "Covered");
  await keepMessages(page);
  await refuseCopying(page);
  for (const name of ["Copy token", "Copy as shell variables"]) await page.getByRole("button", { name }).click();
  await inDialog(page).getByText(BLOCKED).waitFor();
  for (const width of [390, 1024]) {
    // So low that the dialog reaches the bottom, where messages are without a dialog.
    await page.setViewportSize({ width, height: 320 });
    expect(await inDialog(page).count()).toBe(1);
    // Messages stay at the top while a long dialog scrolls below them.
    await page.getByRole("dialog").evaluate((dialog) => dialog.scrollTo(0, 0));
    expect((await inDialog(page).boundingBox())!.height).toBeLessThan(width < 400 ? 140 : 80);
    expect(await coveredButtons(page)).toEqual([]);
  }
});

/** Dialogs of the page of an Item that open without a write. */
const OPENED: ReadonlySet<string> = new Set(["find", "keys", "delete an Item", "move an Item"]);

it("a message made before a dialog is not in the dialog, nor is its button, and both are there afterwards", async () => {
  const { vault, items, token } = await seed([login("Starred")]);
  const page = await openPage({ token });
  await page.goto(`/console/#/items/${vault}/${items[0]}`);
  await page.getByRole("heading", { name: "Starred" }).waitFor();
  await keepMessages(page);
  await page.getByRole("button", { name: "Favorite" }).click();
  const message = page.getByText("Added to favorites");
  await message.waitFor();
  const dialogs = dialogsOf({ vault, item: items[0]! }).filter(([name]) => OPENED.has(name));
  for (const [name, , open] of dialogs) {
    await open(page);
    await page.locator("dialog:modal").waitFor();
    expect([name, await inDialog(page).count()]).toEqual([name, 0]);
    await page.keyboard.press("Escape");
    await page.locator("dialog:modal").waitFor({ state: "detached" });
    expect([name, await message.count()]).toEqual([name, 1]);
  }
  expect(dialogs.length).toBe(OPENED.size);
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByText("Removed from favorites").waitFor();
});

it("a message made in a dialog is in no dialog that opens after it", async () => {
  const page = await openPage({ token: inject("secrets").ADMIN_TOKEN });
  await issueToken(page, "First of two");
  await keepMessages(page);
  await refuseCopying(page);
  await page.getByRole("button", { name: "Copy token" }).click();
  await inDialog(page).getByText(BLOCKED).waitFor();
  for (const name of ["Done", "Close without copying"]) await page.getByRole("button", { name }).click();
  await page.getByText(BLOCKED).waitFor();
  await page.getByRole("button", { name: "Issue token" }).first().click();
  await page.getByRole("dialog", { name: "Issue token" }).waitFor();
  expect(await inDialog(page).count()).toBe(0);
});

/** Issues a token that opens no vault but one of this test, and leaves the dialog that shows it open. */
async function issueToken(page: Page, name: string): Promise<void> {
  await makeVault("Messages");
  await page.goto("/console/#/tokens");
  await page.getByRole("button", { name: "Issue token" }).first().click();
  const form = page.getByRole("dialog", { name: "Issue token" });
  await form.getByLabel("Name", { exact: true }).fill(name);
  await form.getByRole("checkbox", { name: "Read: Messages" }).first().check();
  await form.getByRole("button", { name: "Issue token" }).click();
  await page.getByRole("dialog", { name: "Token issued" }).waitFor();
}
