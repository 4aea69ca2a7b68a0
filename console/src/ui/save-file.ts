/** How long the browser has to begin to save a file before its bytes are released. */
const KEPT = 60_000; // milliseconds

/** Lets the browser save bytes as a file. In: its name, which the browser makes safe. */
export function saveFile(name: string, bytes: Blob): void {
  const href = URL.createObjectURL(bytes);
  Object.assign(document.createElement("a"), { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), KEPT);
}
