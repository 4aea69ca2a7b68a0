import { explain } from "./api/explain.ts";
import { leavePage, signOut } from "./api/session.ts";
import { showToast } from "./state/toasts.ts";
import { clearCopied } from "./ui/clipboard.ts";

/** The button that ends the session. */
export const SignOut = () => (
  <button type="button" onClick={() => void leave()}>
    Sign out
  </button>
);

async function leave(): Promise<void> {
  try {
    await signOut();
    await clearCopied();
    leavePage();
  } catch (error) {
    showToast(explain(error), "failed");
  }
}
