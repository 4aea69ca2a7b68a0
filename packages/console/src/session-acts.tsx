import { signal } from "@preact/signals";
import { session } from "./state/session.ts";
import { leavePage, signOut } from "./state/sign-in.ts";
import { showFailure } from "./state/toasts.ts";
import { Button } from "./ui/button.tsx";
import { clearCopied, isUncertain } from "./ui/clipboard.ts";

/** Adds a grant to the session: an admin opens vaults with a token, or a token holder becomes an admin. Ends the session. */

export type Grant = "admin" | "token";

/** The grant requested by the open dialog. */
export const askedGrant = signal<Grant | undefined>(undefined);

export const askFor = (grant: Grant): void => void (askedGrant.value = grant);

export const AdminOffer = () =>
  session.value?.admin === false && <Button text="Sign in as admin" onClick={() => askFor("admin")} />;

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
