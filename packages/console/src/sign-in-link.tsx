import { useSignal } from "@preact/signals";
import { explainLink, redeemLink } from "./api/session.ts";
import { SignOut } from "./sign-out.tsx";
import { askedCodes, linkNotice, nameOfSession, session } from "./state/session.ts";
import { showToast } from "./state/toasts.ts";
import { Dialog } from "./ui/dialog.tsx";
import { keepFocus } from "./ui/page.tsx";

/** Tells as whom a link has signed in, because it may be the link of somebody else. It stays until it is dismissed. */
export function LinkNotice() {
  if (!linkNotice.value) return null;

  return (
    <aside class="link-notice" aria-label="Signed in by a link">
      <output>
        You’re signed in as <b>{nameOfSession(session.value!)}</b> by link. Not your link? Sign out: its owner can see what you
        save here.
      </output>
      <div class="buttons">
        <SignOut />
        <button type="button" onClick={dismiss}>
          Dismiss
        </button>
      </div>
    </aside>
  );
}

function dismiss(): void {
  linkNotice.value = false;
  keepFocus();
}

/** Asks before a sign-in link replaces a session. */
export function LinkQuestion() {
  const waiting = useSignal(false);
  const codes = askedCodes.value;
  if (codes.length === 0) return null;
  const onUse = async () => {
    waiting.value = true;
    try {
      await redeemLink(codes);
    } catch (error) {
      showToast(explainLink(error), "failed");
    }
    waiting.value = false;
    forgetLink();
  };
  return (
    <Dialog title="Sign in with the link?" onClose={forgetLink}>
      <p>
        You are signed in as {nameOfSession(session.value!)}. Only use a link that you made yourself: with someone else’s link,
        you would save items in their vaults.
      </p>
      <div class="buttons">
        <button type="button" onClick={forgetLink}>
          Stay signed in
        </button>
        <button type="button" class="primary" disabled={waiting.value} onClick={() => void onUse()}>
          Use the link
        </button>
      </div>
    </Dialog>
  );
}

/** The codes stay unused, and expire. */
function forgetLink(): void {
  askedCodes.value = [];
}
