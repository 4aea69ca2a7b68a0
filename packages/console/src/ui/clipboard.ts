import { hideToast, showToast, toasts } from "../state/toasts.ts";
import { capitalized, named } from "./texts.ts";

/**
 * Copies values. A minute later the clipboard is cleared, if that cannot remove a value copied elsewhere. Chromium lets a page clear it at
 * any time; Firefox and WebKit only at a click or a key. A page usually may not read the clipboard, and so cannot see its content. It asks
 * if the person was in another window, or may have copied something else from a menu.
 */

const CLEARED_AFTER = 60; // seconds

/** A copied secret. The page does not keep the value: its Item may be left before the clipboard is cleared. */
interface Copied {
  readonly name: string;
  readonly hash: Promise<string>;
  /** True if the page may read the clipboard. */
  readonly readable: boolean;
  /** True if something else may have been copied since. */
  uncertain: boolean;
  /** True if its time is over. */
  due: boolean;
}

/** The value to clear from the clipboard. */
let held: Copied | undefined;
/** The message that asks whether the clipboard is cleared. */
let question: number | undefined;
/** The value about which the page asks. */
let questioned: Copied | undefined;

const isAsking = (): boolean => toasts.value.some(({ id }) => id === question);

// Of the window: the event `blur` of an element does not bubble.
for (const event of ["blur", "copy", "cut", "contextmenu"]) addEventListener(event, () => void (held && (held.uncertain = true)));
for (const event of ["focus", "click"]) addEventListener(event, clearDue);
/**
 * The button that was pressed last: it shows that its value was copied. An action closes its menu, whose button then shows it. A button that is
 * gone must not stay in memory, because its handlers have the value.
 */
let pressed: WeakRef<HTMLElement> | undefined;
addEventListener(
  "click",
  ({ target }) => {
    const button = (target as Element).closest<HTMLElement>("button");
    const menu = button?.closest("[popover]");
    const shown = menu ? document.querySelector<HTMLElement>(`[popovertarget="${menu.id}"]`) : button;
    pressed = shown ? new WeakRef(shown) : undefined;
  },
  true,
);

/** A separate function: a function made where a button is shown would keep that button. */
const showNone = (): void => undefined;
/** Ends the flash that is shown. */
let endFlash = showNone;
const FLASH = 1_500; // milliseconds

/** Shows a text over a button for a moment (style/elements.css), and announces another one to screen readers. */
function flash(button: HTMLElement | undefined, text: string, said: string): void {
  endFlash();
  if (button) button.dataset["flash"] = text;
  const timer = setTimeout(() => endFlash(), FLASH);
  endFlash = () => {
    clearTimeout(timer);
    delete button?.dataset["flash"];
    endFlash = showNone;
  };
  showToast(said, "heard");
}

// A shortcut may copy: otherwise clearing could come after it.
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
  const [before, button] = [held, pressed?.deref()];
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
  const end = secret ? await hold(name, hash) : "";
  flash(button, secret ? `Copied for ${CLEARED_AFTER} s` : "Copied", `${capitalized(name)} copied${end}`);
  return true;
}

const hashOf = async (text: string): Promise<string> =>
  new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))).join();

/** Returns true if the browser has granted a permission. Firefox and WebKit do not know these two, and refuse if a timer asks. */
const isGranted = (name: "clipboard-read" | "clipboard-write"): Promise<boolean> =>
  Promise.resolve({ name: name as PermissionName })
    .then((permission) => navigator.permissions.query(permission))
    .then(
      ({ state }) => state === "granted",
      () => false,
    );

/** Starts the minute. Returns the effect, for the message. */
async function hold(name: string, hash: Promise<string>): Promise<string> {
  const [readable, timed] = await Promise.all([isGranted("clipboard-read"), isGranted("clipboard-write")]);
  const copied: Copied = { name, hash, readable, uncertain: !document.hasFocus(), due: false };
  held = copied;
  setTimeout(() => {
    copied.due = true;
    clearDue();
  }, CLEARED_AFTER * 1000);
  return ` · clears ${timed ? "in" : "at your next click after"} ${CLEARED_AFTER} s`;
}

/** Clears the clipboard if its time is over. A page without the focus may not write to it: the focus calls again. */
function clearDue(): void {
  if (!held?.due || !document.hasFocus()) return;
  if (isUncertain()) ask(held);
  else void clearCopied();
}

/** Returns true if only the person can tell whether the clipboard still has the copied value. */
export const isUncertain = (): boolean => (held === undefined ? isAsking() : held.uncertain && !held.readable);

/** Clears the clipboard now, even if we cannot confirm it still holds our text. */
export async function clearCopied(): Promise<void> {
  const copied = held ?? (isAsking() ? questioned : undefined);
  held = undefined;
  if (copied === undefined || (copied.readable && !(await isThere(copied)))) return;
  // If a timer is refused, the next click or key tries again. No other wait before this: the browser may then refuse a click too.
  await navigator.clipboard.writeText("").catch(() => void (held ??= copied));
}

/** Returns true if the clipboard has a copied value. It is assumed to if reading is refused. */
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
