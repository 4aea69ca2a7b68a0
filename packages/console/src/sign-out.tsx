import { signal } from "@preact/signals";
import { explain } from "./failures/explain.ts";
import { leavePage, signOut } from "./state/sign-in.ts";
import { showToast } from "./state/toasts.ts";
import { clearCopied, isUncertain } from "./ui/clipboard.ts";
import { FormDialog } from "./ui/form.tsx";

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
  const close = () => void (asked.value = false);
  const answer = (clears: boolean) => () => {
    close();
    void leave(clears);
  };
  return (
    <FormDialog
      title="Clear the clipboard too?"
      action={answer(true)}
      submit="Clear it and sign out"
      cancel="Sign out only"
      onCancel={answer(false)}
      onClose={close}
    >
      <p>A value that you copied here may still be on the clipboard, or something that you copied elsewhere since.</p>
    </FormDialog>
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
