import { signal } from "@preact/signals";
import { explain } from "./failures/explain.ts";
import { leavePage, signOut } from "./state/sign-in.ts";
import { showToast } from "./state/toasts.ts";
import { clearCopied, isUncertain } from "./ui/clipboard.ts";
import { Dialog } from "./ui/dialog.tsx";

/** Signs out: ends the session, and clears the clipboard of values copied here. */

const asked = signal(false);

/** The button that signs out. */
export const SignOut = () => (
  <button type="button" onClick={() => (isUncertain() ? void (asked.value = true) : void leave(true))}>
    Sign out
  </button>
);

/** Asks about a clipboard with possibly other content. It is outside the sidebar, whose popover closes when a dialog opens. */
export function SignOutQuestion() {
  if (!asked.value) return null;
  const answer = (clears: boolean) => () => {
    asked.value = false;
    void leave(clears);
  };
  return (
    <Dialog title="Clear the clipboard too?" onClose={() => (asked.value = false)}>
      <p>A value that you copied here may still be on the clipboard, or something that you copied elsewhere since.</p>
      <div class="buttons">
        <button type="button" onClick={answer(false)}>
          Sign out only
        </button>
        <button type="button" class="primary" onClick={answer(true)}>
          Clear it and sign out
        </button>
      </div>
    </Dialog>
  );
}

async function leave(clears: boolean): Promise<void> {
  try {
    // Before the request: some browsers allow it only at the click.
    if (clears) await clearCopied();
    await signOut();
    leavePage();
  } catch (error) {
    showToast(explain(error), "failed");
  }
}
