import { decodeQR } from "qr/decode.js";
import { Problem } from "../failures/explain.ts";
import { isKeyUri } from "./key-uri.ts";

/** Reads a QR code from a picture. The browser decodes the picture in the page: no part of it is in a request or an address. */

/** Pixels of the longer side of a searched picture. The decoder finds no code whose modules have one pixel each. */
const SIDE = { least: 600, most: 4000 } as const;

/** The time for searching, in milliseconds. */
const TIME_LIMIT = 2000;

/** Returns the key URI in a picture's QR code. Throws a Problem. */
export async function readKeyUri(picture: Blob): Promise<string> {
  const text = decode(await pixelsOf(picture));
  if (!isKeyUri(text)) throw new Problem("The QR code in this picture has no one-time password key.");
  return text;
}

async function pixelsOf(picture: Blob): Promise<ImageData> {
  const bitmap = await createImageBitmap(picture).catch(() => undefined);
  if (!bitmap) throw new Problem("Your browser can’t read this picture: it is damaged or of an unknown kind.");
  const side = Math.max(bitmap.width, bitmap.height);
  const scale = side > SIDE.most ? SIDE.most / side : Math.ceil(SIDE.least / side);
  const [width, height] = [bitmap.width, bitmap.height].map((length) => Math.max(1, Math.round(length * scale)));
  const context = new OffscreenCanvas(width!, height!).getContext("2d", { willReadFrequently: true })!;
  context.imageSmoothingEnabled = scale < 1; // Enlarged modules keep their edges.
  context.fillStyle = "white"; // Of a picture with a transparent ground.
  context.fillRect(0, 0, width!, height!);
  context.drawImage(bitmap, 0, 0, width!, height!);
  bitmap.close();
  return context.getImageData(0, 0, width!, height!);
}

function decode(pixels: ImageData): string {
  try {
    return decodeQR(pixels, { effort: Infinity, timeLimit: TIME_LIMIT });
  } catch {
    throw new Problem("No QR code was found in this picture. Crop it to the code, or take a sharper picture.");
  }
}
