import { expect, it } from "vitest";
import { openPage } from "./support/page.ts";
import { reduceColors } from "./support/png.ts";

/** The pixels of a PNG file, as the page's browser decodes it. Runs in the page. */
async function pixelsOf(base64: string): Promise<string> {
  const image = await createImageBitmap(new Blob([Uint8Array.fromBase64(base64)]));
  const context = new OffscreenCanvas(image.width, image.height).getContext("2d")!;
  context.drawImage(image, 0, 0);
  return [image.width, image.height, ...context.getImageData(0, 0, image.width, image.height).data].join();
}

/** Boxes of a color each, one below the other. */
const boxes = (count: number): string =>
  Array.from(
    { length: count },
    (_, index) => `<div style="height:1px;background:rgb(${index % 256},7,${index >> 8})"></div>`,
  ).join("");

it("a screenshot of at most 256 colors keeps every pixel", async () => {
  const page = await openPage({ width: 37, height: 256 });
  await page.goto("about:blank"); // The policy of a page of the service refuses a document that is written.
  await page.setContent(`<!doctype html><body style="margin:0">${boxes(256)}`);
  const original = await page.screenshot();
  const [before, after] = [original, reduceColors(original)].map((file) => file.toString("base64"));
  expect(await page.evaluate(pixelsOf, after!)).toBe(await page.evaluate(pixelsOf, before!));
});

it("a color too many becomes the one that differs least", async () => {
  const page = await openPage({ width: 1, height: 257 });
  await page.goto("about:blank"); // The policy of a page of the service refuses a document that is written.
  await page.setContent(`<!doctype html><body style="margin:0">${boxes(257)}`);
  const file = reduceColors(await page.screenshot());
  const [, , ...pixels] = (await page.evaluate(pixelsOf, file.toString("base64"))).split(",");
  // Of colors that are equally frequent, the greatest is left out of the palette: (255, 7, 0).
  expect(pixels.slice(254 * 4)).toEqual(["254", "7", "0", "255", "254", "7", "0", "255", "0", "7", "1", "255"]);
});
