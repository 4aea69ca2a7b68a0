import { signal } from "@preact/signals";
import { leavePage, signOut } from "./state/sign-in.ts";
import { showFailure } from "./state/toasts.ts";
import { clearCopied, isUncertain } from "./ui/clipboard.ts";
import { Button } from "./ui/button.tsx";

/** Signs out: ends the session, and clears the clipboard of values copied here. */

/** True while a dialog asks about the clipboard (sign-in-page.tsx). */
export const askedToSignOut = signal(false);

export const SignOut = () => (
  <Button text="Sign out" onClick={() => (isUncertain() ? void (askedToSignOut.value = true) : void leave(true))} />
);

/** Ends the session. `clears`: the clipboard first. Does not throw. */
export async function leave(clears: boolean): Promise<void> {
  try {
    // Before the request: some browsers allow it only at the click.
    if (clears) await clearCopied();
    await signOut();
    leavePage();
  } catch (error) {
    showFailure(error);
  }
}
