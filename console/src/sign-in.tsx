import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { ItemVaultError } from "@item-vault/client";
import { explain } from "./api/explain.ts";
import { signIn } from "./api/session.ts";
import { sessionState, signInMessage } from "./state/session.ts";

/** The form that signs in with a token: alone on the page, or over it when the session has ended. */

const REFUSED = "This token is not valid. It may be mistyped, revoked or expired.";

export function SignInForm({ onDone }: { readonly onDone?: () => void }) {
  const failure = useSignal(signInMessage.value);
  const waiting = useSignal(false);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const onSubmit = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const token = (form.elements.namedItem("token") as HTMLInputElement).value.trim();
    waiting.value = true;
    try {
      await signIn({ token });
      form.reset();
      onDone?.();
    } catch (error) {
      failure.value = (error as ItemVaultError).status === 401 ? REFUSED : explain(error);
    }
    waiting.value = false;
  };
  return (
    <form class="sign-in" onSubmit={(event) => void onSubmit(event)}>
      <label>
        Token
        <input ref={field} name="token" type="password" required autocomplete="off" aria-describedby="sign-in-help" />
      </label>
      <p id="sign-in-help" class="quiet">
        A token that its administrator has issued, or the admin token of this service. It is exchanged for a session of 12 hours
        and not stored in the browser.
      </p>
      {failure.value !== "" && (
        <p class="failure" role="alert">
          {failure.value}
        </p>
      )}
      <button class="primary" disabled={waiting.value}>
        Sign in
      </button>
    </form>
  );
}

export function SignInPage() {
  return (
    <main class="alone">
      <h1>Item Vault</h1>
      {sessionState.value === "unreachable" ? (
        <div class="failure" role="alert">
          <p>{signInMessage}</p>
          <button type="button" onClick={() => location.reload()}>
            Try again
          </button>
        </div>
      ) : (
        <SignInForm />
      )}
    </main>
  );
}
