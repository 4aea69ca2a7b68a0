import type { Locator, Page } from "playwright-core";

/** Opens the panel of a row in a table of the administrator, unless it is open, by the name of the row. */
export async function openPanel(page: Page, name: string): Promise<Locator> {
  const panel = page.locator(".panel").filter({ has: page.getByRole("heading", { name, exact: true, level: 2 }) });
  if (!(await panel.isVisible())) await page.getByRole("rowheader").getByRole("button", { name, exact: true }).click();
  await panel.waitFor();
  return panel;
}

/** Chooses an act of a row in its panel. */
export async function chooseAct(page: Page, name: string, act: string): Promise<void> {
  await (await openPanel(page, name)).getByRole("button", { name: act, exact: true }).click();
}

/** Opens the panel of a row. Returns the labels of its acts. */
export async function actsOf(page: Page, name: string): Promise<string[]> {
  return (await openPanel(page, name)).locator(":scope > .buttons button").allTextContents();
}

/** Expands a section in the panel of a row, and returns the panel. */
export async function openSection(page: Page, name: string, section: string): Promise<Locator> {
  const panel = await openPanel(page, name);
  await panel.locator("summary", { hasText: section }).click();
  return panel;
}

/** Sends the form of a token that may read a vault. */
export async function issueToken(page: Page, name: string, vault: string): Promise<void> {
  await page.getByRole("button", { name: "Issue token" }).first().click();
  const form = page.getByRole("dialog", { name: "Issue token" });
  await form.getByLabel("Name", { exact: true }).fill(name);
  await form
    .getByRole("checkbox", { name: `Read: ${vault}` })
    .first()
    .check();
  await form.getByRole("button", { name: "Issue token" }).click();
}
