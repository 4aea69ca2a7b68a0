import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { Page } from "playwright-core";
import { expect, inject } from "vitest";
import { reduceColors } from "./png.ts";

/** Pictures for the documentation, in docs/images/. */

/** `npm run screenshots` sets it. */
export const WRITES = (process.env["SCREENSHOTS"] ?? "") !== "";
const MOST_BYTES = 60 * 1024;

/** CSS pixels. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

const pathOf = (name: string): string => `docs/images/${name}.png`;

/** Writes the visible part of the page to `docs/images/<name>.png`, one pixel for each CSS pixel. Fails in another browser than the packaged one. */
export async function expectScreenshot(page: Page, name: string): Promise<void> {
  // Another browser has other fonts.
  expect(inject("found")).toHaveProperty("packaged");
  await mkdir(dirname(pathOf(name)), { recursive: true });
  await writeFile(pathOf(name), reduceColors(await page.screenshot({ scale: "css", animations: "disabled", caret: "hide" })));
}

/** Checks that a picture exists with the size in pixels. Pictures are of at most 60 KiB. */
export async function expectPicture(name: string, size: Size): Promise<void> {
  const bytes = await readFile(pathOf(name));
  // The first chunk of a PNG file has the width and the height (PNG specification, 11.2.2).
  const picture = { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20), small: bytes.length <= MOST_BYTES };
  expect(picture).toEqual({ ...size, small: true });
}
