import { useId, useLayoutEffect, useRef } from "preact/hooks";
import type { ItemVaultError } from "@item-vault/client";
import { signIn } from "./state/sign-in.ts";
import { signInMessage } from "./state/session.ts";
import { Form, InputError, textOf } from "./ui/form.tsx";

/** The form that signs in with a token: alone on the page, over it when the session has ended, or to add a grant (sign-in-page.tsx). */

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
  const id = useId();
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
        <input ref={field} name="token" type="password" required autocomplete="one-time-code" aria-describedby={id} />
      </label>
      <p id={id} class="quiet">
        {help}
      </p>
    </Form>
  );
}
