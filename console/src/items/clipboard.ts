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
  if (secret) timer = setTimeout(() => void clear(value), CLEARED_AFTER * 1000);
  return true;
}

/** A page without the focus may not write to the clipboard: it is cleared when the page has the focus again. */
async function clear(value: string): Promise<void> {
  timer = undefined;
  if (!document.hasFocus()) {
    addEventListener("focus", () => void clear(value), { once: true });
    return;
  }
  if (timer === undefined && (await mayHold(value))) await navigator.clipboard.writeText("").catch(() => undefined);
}

/** Whether the clipboard may still hold a value. Without the permission to read it, it is assumed to. */
async function mayHold(value: string): Promise<boolean> {
  try {
    const { state } = await navigator.permissions.query({ name: "clipboard-read" as PermissionName });
    return state !== "granted" || (await navigator.clipboard.readText()) === value;
  } catch {
    return true;
  }
}
