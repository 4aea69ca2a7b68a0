import { showToast } from "../state/toasts.ts";

/** Copying values. The clipboard is cleared after a minute, unless something else was copied in the meantime. */

const CLEARED_AFTER = 60; // seconds

let timer: ReturnType<typeof setTimeout> | undefined;
/** The hash of what the clipboard is to be cleared of. The page does not keep the value, whose Item may be left before that. */
let copied: string | undefined;

/** In: what is copied, as the message names it. `secret`: the clipboard is cleared later. Out: whether it was copied. */
export async function copy(name: string, value: string, { secret = true } = {}): Promise<boolean> {
  clearTimeout(timer);
  copied = undefined;
  try {
    await navigator.clipboard.writeText(value);
  } catch {
    showToast("The browser did not allow to copy.", "failed");
    return false;
  }
  const done = `${name.charAt(0).toUpperCase()}${name.slice(1)} copied.`;
  showToast(secret ? `${done} The clipboard is cleared in ${CLEARED_AFTER} seconds.` : done);
  if (!secret) return true;
  const hash = (copied = await hashOf(value));
  timer = setTimeout(() => void clear(hash), CLEARED_AFTER * 1000);
  return true;
}

const hashOf = async (text: string): Promise<string> =>
  new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))).join();

/** A page without the focus may not write to the clipboard: it is cleared when the page has the focus again. */
async function clear(hash: string): Promise<void> {
  if (!document.hasFocus()) addEventListener("focus", () => void clear(hash), { once: true });
  else if (copied === hash) await clearCopied();
}

/** Clears the clipboard at once, if it is to be cleared later. */
export async function clearCopied(): Promise<void> {
  const hash = copied;
  if (hash === undefined || !(await mayHold(hash))) return;
  copied = undefined;
  await navigator.clipboard.writeText("").catch(() => undefined);
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
