import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { makeVault, sendRequest } from "../sdk/support/requests.ts";
import { checkAccessibility } from "./support/accessibility.ts";
import { refuseCopying } from "./support/clipboard.ts";
import { dialogOf, heading, listed, openItem, openView, press, see, titleField, toast } from "./support/console.ts";
import { dialogsOf } from "./support/dialogs.ts";
import { injectFault } from "./support/faults.ts";
import { coveredButtons, keepMessages } from "./support/layout.ts";
import { expectProblem } from "./support/problems.ts";
import { issueToken } from "./support/rows.ts";
import { login } from "./support/seed.ts";

/** Messages: they never cover what is pressed next. */

const BLOCKED = "Your browser blocked copying.";

/** Opens the form of an Item, with a changed title, below the last of three messages. */
async function openForm(title: string): Promise<Page> {
  const { page } = await openItem([login(title)]);
  await keepMessages(page);
  await refuseCopying(page);
  await press(page, "Copy password", "Copy username", "Copy password");
  await page.getByRole("link", { name: "Edit" }).click();
  await titleField(page).fill("Covered by nothing");
  // One message at a time.
  await expect.poll(() => page.locator(".toast").allInnerTexts()).toEqual([expect.stringContaining(BLOCKED)]);
  return page;
}

/** Issues a token, and leaves the dialog that shows it open, with a message of a copy that the browser has refused. */
async function openIssued(name: string): Promise<Page> {
  await makeVault("Messages");
  const page = await openView("tokens");
  await issueToken(page, name, "Messages");
  await dialogOf(page, "Token issued").waitFor();
  await keepMessages(page);
  await refuseCopying(page);
  await press(page, "Copy token");
  await see(inDialog(page), BLOCKED);
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
  await press(page, "Save");
  await heading(page, "Covered by nothing").waitFor();
});

it("a message does not cover why a form was not saved, wide and on a phone", async () => {
  const page = await openForm("Refused");
  expectProblem(page, /403/);
  await injectFault(page, "PATCH", "/v1/vaults/*/items/*", { status: 403, kind: "out_of_scope" });
  await press(page, "Save");
  const reason = page.getByRole("alert").getByText("You don’t have permission");
  for (const width of [390, 1024]) {
    await page.setViewportSize({ width, height: 780 });
    await reason.click({ trial: true });
  }
});

/** The messages in the dialog that is open. */
const inDialog = (page: Page) => page.locator("dialog:modal .toast");

it("a message covers no button of a dialog in which it was made, and is as high as its text", async () => {
  const page = await openIssued("Covered");
  await press(page, "Copy as shell variables");
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
  const { page, vault, items } = await openItem([login("Starred")]);
  await keepMessages(page);
  await press(page, "Favorite");
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
  await press(page, "Undo");
  await page.getByText("Removed from favorites").waitFor();
});

it("a message names the Item that was written, and its Undo concerns that one, after another Item has opened", async () => {
  const { page, load, vault, token, items } = await openItem([login("Starred"), login("Other")]);
  await keepMessages(page);
  await press(page, "Favorite");
  await toast(page, "Added to favorites · Starred").waitFor();
  await listed(page, "Other").click();
  await heading(page, "Other").waitFor();
  await press(page, "Undo");
  await toast(page, "Removed from favorites · Starred").waitFor();
  expect((await load()).favorite).toBe(false);
  expect(await sendRequest("GET", `v1/vaults/${vault}/items/${items[1]}`, token)).toMatchObject({ version: 1 });
});

it("a message made in a dialog is in no dialog that opens after it", async () => {
  const page = await openIssued("First of two");
  await press(page, "Done", "Close without copying");
  await see(page, BLOCKED);
  await page.getByRole("button", { name: "Issue token" }).first().click();
  await dialogOf(page, "Issue token").waitFor();
  expect(await inDialog(page).count()).toBe(0);
});
