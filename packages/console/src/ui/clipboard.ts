import { hideToast, showToast, toasts } from "../state/toasts.ts";
import { capitalized, named } from "./texts.ts";

/**
 * Copying values. A minute later the clipboard is cleared, if that cannot take away what was copied elsewhere in the meantime. Chromium
 * lets a page clear it at any time; Firefox and WebKit only at a click or a key. A page that may not read the clipboard, as is usual,
 * cannot see what is in it: it asks when the person was in another window, or may have copied something by a menu.
 */

const CLEARED_AFTER = 60; // seconds

/** A copied secret. The page does not keep the value, whose Item may be left before the clipboard is cleared. */
interface Copied {
  /** How messages call it. */
  readonly name: string;
  readonly hash: Promise<string>;
  /** Whether the page may read the clipboard. */
  readonly readable: boolean;
  /** Whether something else may have been copied since. */
  uncertain: boolean;
  /** Whether its time is over. */
  due: boolean;
}

/** What the clipboard is to be cleared of. */
let held: Copied | undefined;
/** The message that asks whether the clipboard is cleared. */
let question: number | undefined;
/** What it asks about. */
let questioned: Copied | undefined;

const isAsking = (): boolean => toasts.value.some(({ id }) => id === question);

// Of the window: the event `blur` of an element does not bubble.
for (const event of ["blur", "copy", "cut", "contextmenu"]) addEventListener(event, () => void (held && (held.uncertain = true)));
for (const event of ["focus", "click"]) addEventListener(event, clearDue);
// A shortcut may copy: clearing could come after it.
addEventListener("keydown", ({ ctrlKey, metaKey }) => void (ctrlKey || metaKey || clearDue()));

/**
 * Copies a value, which messages call `name`, and returns whether it was copied. An empty value leaves the clipboard as it is. With `secret`, the
 * clipboard is cleared later.
 */
export async function copy(name: string, value: string, { secret = true } = {}): Promise<boolean> {
  if (value === "") {
    showToast(`${capitalized(name)} is empty. Nothing was copied.`, "failed");
    return false;
  }
  const before = held;
  held = undefined; // It must not be cleared during the write, or after it.
  const hash = hashOf(value);
  try {
    await navigator.clipboard.writeText(value);
  } catch {
    held ??= before; // It is in the clipboard still.
    clearDue();
    showToast("Your browser blocked copying.", "failed");
    return false;
  }
  if (question !== undefined) hideToast(question);
  held = undefined;
  if (secret) await hold(name, hash);
  else showToast(`${capitalized(name)} copied`);
  return true;
}

const hashOf = async (text: string): Promise<string> =>
  new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))).join();

/** Whether the browser has granted a permission. Firefox and WebKit do not know these two, and refuse where a timer asks. */
const isGranted = (name: "clipboard-read" | "clipboard-write"): Promise<boolean> =>
  Promise.resolve({ name: name as PermissionName })
    .then((permission) => navigator.permissions.query(permission))
    .then(
      ({ state }) => state === "granted",
      () => false,
    );

/** Begins the minute, and says what will happen. */
async function hold(name: string, hash: Promise<string>): Promise<void> {
  const [readable, timed] = await Promise.all([isGranted("clipboard-read"), isGranted("clipboard-write")]);
  const copied: Copied = { name, hash, readable, uncertain: !document.hasFocus(), due: false };
  held = copied;
  setTimeout(() => {
    copied.due = true;
    clearDue();
  }, CLEARED_AFTER * 1000);
  showToast(`${capitalized(name)} copied · clears ${timed ? "in" : "at your next click after"} ${CLEARED_AFTER} s`);
}

/** Clears the clipboard if its time is over. A page without the focus may not write to it: the focus calls again. */
function clearDue(): void {
  if (!held?.due || !document.hasFocus()) return;
  if (isUncertain()) ask(held);
  else void clearCopied();
}

/** Whether nobody but the person can tell if the clipboard has the copied value still. */
export const isUncertain = (): boolean => (held === undefined ? isAsking() : held.uncertain && !held.readable);

/** Clears the clipboard at once of what was copied; also if it is uncertain whether it has that still. */
export async function clearCopied(): Promise<void> {
  const copied = held ?? (isAsking() ? questioned : undefined);
  held = undefined;
  if (copied === undefined || (copied.readable && !(await isThere(copied)))) return;
  // Where a timer is refused, the next click or key tries again. No other wait before this: the browser may then refuse a click too.
  await navigator.clipboard.writeText("").catch(() => void (held ??= copied));
}

/** Whether the clipboard has a copied value. It is assumed to when reading is refused. */
const isThere = async ({ hash }: Copied): Promise<boolean> =>
  navigator.clipboard.readText().then(
    async (text) => (await hashOf(text)) === (await hash),
    () => true,
  );

function ask(copied: Copied): void {
  held = undefined;
  questioned = copied;
  const run = () => {
    held ??= copied;
    void clearCopied();
  };
  question = showToast(`Your ${named(copied.name)} may still be on the clipboard.`, "question", {
    label: "Clear",
    run,
  });
}
