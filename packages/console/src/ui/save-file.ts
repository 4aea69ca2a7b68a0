import { savedName } from "./texts.ts";

/** Time for the browser to begin to save a file before its bytes are released. */
const KEPT = 60_000; // milliseconds

/** Lets the browser save bytes as a file. The name may hold any characters. */
export function saveFile(name: string, bytes: Blob): void {
  const href = URL.createObjectURL(bytes);
  Object.assign(document.createElement("a"), { href, download: savedName(name) }).click();
  setTimeout(() => URL.revokeObjectURL(href), KEPT);
}
