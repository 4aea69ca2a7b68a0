import type { Page } from "playwright-core";
import { expect, inject, it } from "vitest";
import { checkAccessibility } from "./support/accessibility.ts";
import { injectFault } from "./support/faults.ts";
import { coveredButtons, keepMessages } from "./support/layout.ts";
import { openPage } from "./support/page.ts";
import { expectProblem } from "./support/problems.ts";
import { login, seed } from "./support/seed.ts";

/** Messages: they never cover what is pressed next. */

/** Opens the form of an Item, with a changed title, below the last of three messages. */
async function openForm(title: string): Promise<Page> {
  const { vault, items, token } = await seed([login(title)]);
  const page = await openPage({ token });
  await page.goto(`/console/#/items/${vault}/${items[0]}`);
  await page.getByRole("heading", { name: title }).waitFor();
  await keepMessages(page);
  for (const name of ["Copy password", "Copy user name", "Copy password"]) await page.getByRole("button", { name }).click();
  await page.getByRole("link", { name: "Edit" }).click();
  await page.getByLabel("Title").fill("Covered by nothing");
  // One message at a time.
  expect(await page.getByText(/copied\./).count()).toBe(1);
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
  const reason = page.getByRole("alert").getByText("You have no permission");
  for (const width of [390, 1024]) {
    await page.setViewportSize({ width, height: 780 });
    await reason.click({ trial: true });
  }
});

it("a message covers no button of a dialog, and is as high as its text", async () => {
  const page = await openPage({ token: inject("secrets").ADMIN_TOKEN });
  await page.goto("/console/#/vaults");
  await page.getByRole("button", { name: "Create vault" }).waitFor();
  await keepMessages(page);
  for (const name of ["First", "Second"]) {
    await page.getByRole("button", { name: "Create vault" }).click();
    await page.getByRole("dialog").getByLabel("Name", { exact: true }).fill(`Covered ${name}`);
    await page.getByRole("dialog").getByRole("button", { name: "Create" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
  }
  await page.getByRole("button", { name: "Open vaults for 12 hours" }).click();
  const messages = page.getByText("The vault was created.");
  for (const width of [390, 1024]) {
    // So low that the dialog reaches the bottom, where messages are without a dialog.
    await page.setViewportSize({ width, height: 480 });
    expect(await messages.count()).toBe(1);
    // Messages stay at the top while a long dialog scrolls below them.
    await page.getByRole("dialog").evaluate((dialog) => dialog.scrollTo(0, 0));
    expect((await messages.first().boundingBox())!.height).toBeLessThan(80);
    expect(await coveredButtons(page)).toEqual([]);
  }
});
