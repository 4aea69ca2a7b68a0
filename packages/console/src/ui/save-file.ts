/** Time for the browser to begin to save a file before its bytes are released. */
const KEPT = 60_000; // milliseconds

/** Lets the browser save bytes as a file. The name may hold any characters. */
export function saveFile(name: string, bytes: Blob): void {
  const href = URL.createObjectURL(bytes);
  Object.assign(document.createElement("a"), { href, download: savedName(name) }).click();
  setTimeout(() => URL.revokeObjectURL(href), KEPT);
}

/** The name under which a content is saved: without folders, control characters, and characters that change the order of others. */
export function savedName(name: string): string {
  const usable = name
    .split(/[/\\]/)
    .at(-1)!
    .replaceAll(/[\p{Cc}\p{Bidi_Control}]/gu, "");
  return /^\.*$/.test(usable) ? "file" : usable;
}
