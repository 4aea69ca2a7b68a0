import { useLayoutEffect } from "preact/hooks";
import { dropPage } from "./api/session.ts";
import { SignInForm } from "./sign-in.tsx";
import { nameOfSession, otherSession, session } from "./state/session.ts";
import { hideToasts } from "./state/toasts.ts";
import { Dialog } from "./ui/dialog.tsx";

/**
 * Asks to sign in when the session has ended. Who had opened the page continues where they were; somebody else begins anew.
 * Cloudflare Access signs people in by pages of its own, so these open in another tab (api/watch-session.ts).
 */
export function SessionEnded() {
  const other = otherSession.value;
  // A message may offer to undo what the session that has ended has done.
  useLayoutEffect(hideToasts, []);
  return (
    <Dialog title="Your session has ended" signsIn>
      {other ? (
        <>
          <p role="alert">
            You are signed in as <b>{nameOfSession(other)}</b>. This page was opened by <b>{nameOfSession(session.value!)}</b>:
            what was typed in it will be lost when you continue.
          </p>
          <p>
            <button type="button" onClick={dropPage}>
              Continue
            </button>
          </p>
          <p>To keep it, sign in here as before.</p>
        </>
      ) : (
        <p>Sign in again to continue. What you have typed is still here.</p>
      )}
      {session.value?.person && (
        <p>
          <a class="button" href="/console/" target="_blank" rel="noopener">
            Sign in with your account, in another tab
          </a>
        </p>
      )}
      <SignInForm />
    </Dialog>
  );
}
