import { expect, inject, it } from "vitest";
import { checkAccessibility } from "./support/accessibility.ts";
import { coveredButtons, keepMessages } from "./support/layout.ts";
import { openPage } from "./support/page.ts";
import { login, seed } from "./support/seed.ts";

/** Messages: they never cover what is pressed next. */

it("a message covers no button of a form, wide and on a phone", async () => {
  const { vault, items, token } = await seed([login("Covered")]);
  const page = await openPage({ token });
  await page.goto(`/console/#/items/${vault}/${items[0]}`);
  await page.getByRole("heading", { name: "Covered" }).waitFor();
  await keepMessages(page);
  for (const name of ["Copy password", "Copy user name", "Copy password"]) await page.getByRole("button", { name }).click();
  await page.getByRole("link", { name: "Edit" }).click();
  await page.getByLabel("Title").fill("Covered by nothing");
  for (const width of [390, 1024]) {
    await page.setViewportSize({ width, height: 780 });
    expect(await page.getByText(/copied\./).count()).toBe(3);
    const covered = await coveredButtons(page);
    expect([covered.includes("Save"), covered.includes("Cancel")]).toEqual([false, false]);
  }
  expect(await checkAccessibility(page, "look")).toBe("");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("heading", { name: "Covered by nothing" }).waitFor();
});

it("a message covers no button of a dialog, and is as high as its text", async () => {
  const page = await openPage({ token: inject("secrets").ADMIN_TOKEN });
  await page.goto("/console/#/vaults");
  await page.getByRole("button", { name: "Create vault" }).waitFor();
  await keepMessages(page);
  for (const name of ["First", "Second"]) {
    await page.getByRole("button", { name: "Create vault" }).click();
    await page.getByRole("dialog").getByLabel("Name").fill(`Covered ${name}`);
    await page.getByRole("dialog").getByRole("button", { name: "Create" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
  }
  await page.getByRole("button", { name: "Open vaults for 12 hours" }).click();
  const messages = page.getByText("The vault was created.");
  for (const width of [390, 1024]) {
    await page.setViewportSize({ width, height: 780 });
    expect(await messages.count()).toBe(2);
    expect(await coveredButtons(page)).toEqual([]);
    expect((await messages.first().boundingBox())!.height).toBeLessThan(80);
  }
});
