import { useSignal } from "@preact/signals";
import { explainLink, redeemLink } from "./api/session.ts";
import { askedCodes, nameOfSession, session } from "./state/session.ts";
import { showToast } from "./state/toasts.ts";
import { Dialog } from "./ui/dialog.tsx";

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
        You are signed in as {nameOfSession(session.value!)}. Use the link only if you have made it yourself: with a link of
        somebody else you would write into their vaults.
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
