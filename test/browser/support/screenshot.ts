import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { Page } from "playwright-core";
import { expect, inject } from "vitest";
import { reduceColors } from "./png.ts";

/** Pictures for the documentation, in docs/images/. */

/** `npm run screenshots` sets it. */
const WRITES = (process.env["SCREENSHOTS"] ?? "") !== "";
const MOST_BYTES = 60 * 1024;

/**
 * Writes the visible part of the page to `docs/images/<name>.png`, one pixel for each CSS pixel. Without the variable SCREENSHOTS it
 * writes nothing, and only checks that the picture exists with the same size in pixels. Pictures are of at most 60 KiB.
 */
export async function expectScreenshot(page: Page, name: string): Promise<void> {
  const path = `docs/images/${name}.png`;
  if (WRITES) {
    // Another browser has other fonts.
    expect(inject("found")).toHaveProperty("packaged");
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, reduceColors(await page.screenshot({ scale: "css", animations: "disabled", caret: "hide" })));
  }
  const bytes = await readFile(path);
  // The first chunk of a PNG file has the width and the height (PNG specification, 11.2.2).
  const picture = { path, width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20), small: bytes.length <= MOST_BYTES };
  expect(picture).toEqual({ path, ...page.viewportSize(), small: true });
}
