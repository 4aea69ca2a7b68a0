import { showToast } from "../state/toasts.ts";

/** Copying values. The clipboard is cleared after a minute, unless something else was copied in the meantime. */

const CLEARED_AFTER = 60; // seconds

let timer: ReturnType<typeof setTimeout> | undefined;

/** In: what is copied, as the message names it. `secret`: the clipboard is cleared later. Out: whether it was copied. */
export async function copy(name: string, value: string, { secret = true } = {}): Promise<boolean> {
  clearTimeout(timer);
  timer = undefined;
  try {
    await navigator.clipboard.writeText(value);
  } catch {
    showToast("The browser did not allow to copy.", "failed");
    return false;
  }
  showToast(secret ? `${name} copied. The clipboard is cleared in ${CLEARED_AFTER} seconds.` : `${name} copied.`);
  if (!secret) return true;
  // The page keeps a hash, so that a value does not stay in its memory for a minute after its Item was left.
  const hash = await hashOf(value);
  timer = setTimeout(() => void clear(hash), CLEARED_AFTER * 1000);
  return true;
}

const hashOf = async (text: string): Promise<string> =>
  new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))).join();

/** A page without the focus may not write to the clipboard: it is cleared when the page has the focus again. */
async function clear(hash: string): Promise<void> {
  timer = undefined;
  if (!document.hasFocus()) {
    addEventListener("focus", () => void clear(hash), { once: true });
    return;
  }
  if (timer === undefined && (await mayHold(hash))) await navigator.clipboard.writeText("").catch(() => undefined);
}

/** Whether the clipboard may still hold the value of a hash. Without the permission to read it, it is assumed to. */
async function mayHold(hash: string): Promise<boolean> {
  try {
    const { state } = await navigator.permissions.query({ name: "clipboard-read" as PermissionName });
    return state !== "granted" || (await hashOf(await navigator.clipboard.readText())) === hash;
  } catch {
    return true;
  }
}
