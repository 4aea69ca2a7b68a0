import type { Page } from "playwright-core";
import { expect } from "vitest";

/** Lets a page read the clipboard, which people have to allow in Chrome, or not. */
export async function allowReading(page: Page, allowed: boolean): Promise<void> {
  await page.context().clearPermissions();
  await page.context().grantPermissions(allowed ? ["clipboard-read", "clipboard-write"] : ["clipboard-write"]);
}

/** Empties the clipboard, presses what copies, and waits for the copied text, which is returned. */
export async function copyBy(page: Page, press: () => Promise<void>): Promise<string> {
  await page.evaluate("navigator.clipboard.writeText('')");
  await press();
  await expect.poll(() => readClipboard(page)).not.toBe("");
  return readClipboard(page);
}

/** Makes the browser refuse to copy: a press of what copies then shows a message. */
export const refuseCopying = (page: Page): Promise<void> =>
  page.evaluate("navigator.clipboard.writeText = () => Promise.reject(new Error('refused'))");

/** The text in the clipboard. Afterwards the page may not read it, as before. */
export async function readClipboard(page: Page): Promise<string> {
  await allowReading(page, true);
  const text = await page.evaluate(() => navigator.clipboard.readText());
  await allowReading(page, false);
  return text;
}
