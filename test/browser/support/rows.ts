import type { Locator, Page } from "playwright-core";

/** Chooses an action of a row in a table of the administrator, by its accessible name: that of the action and that of the row. */
export async function chooseRowAction(page: Page, name: string): Promise<void> {
  const action = page.getByRole("button", { name, exact: true, includeHidden: true });
  await page
    .getByRole("row")
    .filter({ has: action })
    .getByRole("button", { name: /^Actions for/ })
    .click();
  await action.click();
}

/** Opens the menu of a row. Out: the texts of its actions. */
export async function actionsOf(row: Locator): Promise<string[]> {
  await row.getByRole("button", { name: /^Actions for/ }).click();
  return row.locator(":popover-open button").allTextContents();
}
