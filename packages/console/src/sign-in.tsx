import { useLayoutEffect, useRef } from "preact/hooks";
import type { ItemVaultError } from "@item-vault/client";
import { goToProvider, providerOffered } from "./state/provider.ts";
import { signIn } from "./state/sign-in.ts";
import { sessionState, signInMessage } from "./state/session.ts";
import { Form, InputError, textOf } from "./ui/form.tsx";

/** The form that signs in with a token: alone on the page, over it when the session has ended, or to add a grant (grants.tsx). */

const REFUSED = "This token is not valid. It may be mistyped, revoked or expired.";
const HELP =
  "A token that your administrator has issued, or the admin token of this service. You’ll stay signed in for 12 hours. " +
  "The token isn’t stored.";

interface Props {
  readonly label?: string;
  readonly help?: string;
  /** Why a text is not sent, in words. */
  readonly refuse?: (token: string) => string | undefined;
  readonly onDone?: () => void;
  /** True below another way to sign in, which has the focus and the message. */
  readonly second?: boolean;
}

export function SignInForm({ label = "Token", help = HELP, refuse, onDone, second = false }: Props) {
  const field = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => void (second || field.current?.focus()), []);
  const action = async (data: FormData) => {
    const token = textOf(data, "token").trim();
    const refused = refuse?.(token);
    if (refused !== undefined) throw new InputError(refused);
    await signIn({ token }).catch((error: ItemVaultError) => {
      throw error.status === 401 ? new InputError(REFUSED) : error;
    });
    if (field.current) field.current.value = "";
    onDone?.();
  };
  return (
    <Form action={action} submit="Sign in" look="sign-in" second={second} message={second ? "" : signInMessage.value}>
      <label>
        {label}
        <input ref={field} name="token" type="password" required autocomplete="one-time-code" aria-describedby="sign-in-help" />
      </label>
      <p id="sign-in-help" class="quiet">
        {help}
      </p>
    </Form>
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
        <>
          {providerOffered.value && <ProviderSignIn />}
          <SignInForm second={providerOffered.value} />
          <Help />
        </>
      )}
    </main>
  );
}

/** Leads to the identity provider. */
function ProviderSignIn() {
  const place = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => place.current?.querySelector("button")?.focus(), []);
  return (
    <div ref={place}>
      <Form action={goToProvider} submit="Sign in with your organization" look="sign-in" message={signInMessage.value} />
    </div>
  );
}

/** Help for a visitor without a token. */
const Help = () => (
  <section class="sign-in-help" aria-label="Other ways to sign in">
    <h2>Other ways to sign in</h2>
    <ul>
      <li>
        You run the service on this computer: <code>npm run console</code> prints a link that signs you in.
      </li>
      <li>
        You have set up the command line: <code>item-vault console</code> prints such a link.
      </li>
      <li>Your organization has set up sign-in: your administrator invites you, and you open this page again.</li>
    </ul>
  </section>
);
