import { effect } from "@preact/signals";
import { ItemVaultError } from "@item-vault/client";
import { endSession, isSameUser, session, sessionState, setSession } from "./session.ts";
import { readSession } from "./client.ts";

/** Notices when the session ends without a request: at its time, and when another tab of the browser has signed in or out. */

const tabs = new BroadcastChannel("item-vault-session");

/** Called after this tab has signed in or out: all tabs have one cookie. */
// A channel reaches this origin only, so it takes no origin.
// oxlint-disable-next-line unicorn/require-post-message-target-origin
export const tellTabs = (): void => tabs.postMessage("changed");

/** Compares the session of the page with that of the cookie. Without an answer, the page is not changed. */
async function checkSession(): Promise<void> {
  if (sessionState.value !== "signed-in" && sessionState.value !== "ended") return;
  const shown = session.peek();
  try {
    const next = await readSession();
    if (!isSameUser(next)) endSession(next);
    else if (sessionState.value === "ended" || JSON.stringify(next) !== JSON.stringify(session.value)) setSession(next);
  } catch (error) {
    // The answer may be from before a sign-in.
    if (error instanceof ItemVaultError && error.status === 401 && session.peek() === shown) endSession();
  }
}

/** The least time between two checks, should the clock of the computer be wrong. */
const LEAST = 60_000; // milliseconds

export function watchSession(): void {
  tabs.addEventListener("message", () => void checkSession());
  effect(() => {
    if (!session.value) return undefined;
    const left = Date.parse(session.value.expiresAt) - Date.now();
    const timer = setTimeout(() => void checkSession(), Math.max(LEAST, left));
    return () => clearTimeout(timer);
  });
}
