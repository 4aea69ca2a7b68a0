import type { Page } from "playwright-core";

/** Lets a page read the clipboard, which people have to allow in Chrome, or not. */
export async function allowReading(page: Page, allowed: boolean): Promise<void> {
  await page.context().clearPermissions();
  await page.context().grantPermissions(allowed ? ["clipboard-read", "clipboard-write"] : ["clipboard-write"]);
}

/** The text in the clipboard. Afterwards the page may not read it, as before. */
export async function readClipboard(page: Page): Promise<string> {
  await allowReading(page, true);
  const text = await page.evaluate(() => navigator.clipboard.readText());
  await allowReading(page, false);
  return text;
}
