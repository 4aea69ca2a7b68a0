import type { ItemVaultError } from "@item-vault/client";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { askedGrant, askedToSignOut, type Grant, leave, SignOut } from "./session-acts.tsx";
import { goToProvider, providerOffered } from "./state/provider.ts";
import { navigate } from "./state/route.ts";
import { askedCodes, linkNotice, nameOfSession, otherSession, session, sessionState, signInMessage } from "./state/session.ts";
import { dropPage, explainLink, redeemLink, signIn } from "./state/sign-in.ts";
import { hideToasts, showToast } from "./state/toasts.ts";
import { Button } from "./ui/button.tsx";
import { Dialog } from "./ui/dialog.tsx";
import { Form, FormDialog, InputError, textOf } from "./ui/form.tsx";
import { afterRender, keepFocus } from "./ui/page.tsx";

/**
 * The page without a session, and the dialogs that add a grant to a session, replace it, or renew it. The first view with a session needs
 * no such view.
 */

export function SignInPage() {
  return (
    <main class="alone">
      <h1>Item Vault</h1>
      {sessionState.value === "unreachable" ? (
        <div class="failure" role="alert">
          <p>{signInMessage}</p>
          <Button text="Try again" onClick={() => location.reload()} />
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

function ProviderSignIn() {
  const place = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => place.current?.querySelector("button")?.focus(), []);
  return (
    <div ref={place}>
      <Form action={goToProvider} submit="Sign in with your organization" look="sign-in" message={signInMessage.value} />
    </div>
  );
}

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

/** The form that signs in with a token: alone on the page, over it when the session has ended, or to add a grant. */

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

function SignInForm({ label = "Token", help = HELP, refuse, onDone, second = false }: Props) {
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

/** Tokens for vaults are JSON Web Tokens in the compact form (RFC 7515 section 3.1). The admin token is any other text. */
const isVaultToken = (text: string): boolean => /^eyJ[\w-]+\.[\w-]+\.[\w-]+$/.test(text);

const GRANTS = {
  admin: {
    title: "Sign in as admin",
    label: "Admin token",
    help: "The ADMIN_TOKEN of this service. It is added to your session, and your vaults stay open.",
    refuse: (text: string) => (isVaultToken(text) ? "This is a token for vaults, not the admin token." : undefined),
  },
  token: {
    title: "Sign in with a token",
    label: "Token",
    help: "A token for vaults. It is added to your session, which stays the admin's.",
    refuse: (text: string) => (isVaultToken(text) ? undefined : "This is not a token for vaults."),
  },
} as const satisfies Readonly<Record<Grant, object>>;

/** Moves the focus to the new views, because the button that had it is gone. One of the two is hidden, and does not get it. */
function focusSidebar(): void {
  for (const place of [".bar button:last-child", ".sidebar a[href='#/vaults']"])
    document.querySelector<HTMLElement>(place)?.focus();
}

const dropGrant = (): void => void (askedGrant.value = undefined);

/** The dialog for a requested grant. It is outside the sidebar, whose popover closes when a dialog opens. */
export function GrantDialog({ grant }: { readonly grant: Grant }) {
  const { title, ...texts } = GRANTS[grant];
  const onDone = () => {
    dropGrant();
    if (grant === "token") return navigate({ view: "items" });
    showToast("Signed in as admin");
    afterRender(focusSidebar);
  };
  return (
    <Dialog title={title} onClose={dropGrant}>
      <SignInForm {...texts} onDone={onDone} />
    </Dialog>
  );
}

/** Shows the account of a sign-in by link, because the link may belong to somebody else. It stays until it is dismissed. */
export const LinkNotice = () => (
  <aside class="link-notice" aria-label="Signed in by a link">
    <output>
      You’re signed in as <b>{nameOfSession(session.value!)}</b> by link. Not your link? Sign out: its owner can see what you save
      here.
    </output>
    <div class="buttons">
      <SignOut />
      <Button text="Dismiss" onClick={dismiss} />
    </div>
  </aside>
);

function dismiss(): void {
  linkNotice.value = false;
  keepFocus();
}

/** Asks before a sign-in link replaces a session. */
export function LinkQuestion() {
  const action = () =>
    redeemLink(askedCodes.value).then(forgetLink, (error: unknown) => {
      throw new InputError(explainLink(error));
    });
  return (
    <FormDialog title="Sign in with the link?" action={action} submit="Use the link" cancel="Stay signed in" onClose={forgetLink}>
      <p>
        You are signed in as {nameOfSession(session.value!)}. Only use a link that you made yourself: with someone else’s link,
        you would save items in their vaults.
      </p>
    </FormDialog>
  );
}

/** The codes stay unused, and expire. */
function forgetLink(): void {
  askedCodes.value = [];
}

const closeQuestion = (): void => void (askedToSignOut.value = false);

/** Asks about a clipboard that may hold other content. It is outside the sidebar, whose popover closes when a dialog opens. */
export function SignOutQuestion() {
  const answer = (clears: boolean) => () => {
    closeQuestion();
    void leave(clears);
  };
  return (
    <FormDialog
      title="Clear the clipboard too?"
      action={answer(true)}
      submit="Clear it and sign out"
      cancel="Sign out only"
      onCancel={answer(false)}
      onClose={closeQuestion}
    >
      <p>A value that you copied here may still be on the clipboard, or something that you copied elsewhere since.</p>
    </FormDialog>
  );
}

/**
 * Asks to sign in when the session has ended. The same user continues in place; another user starts anew. People sign in by pages of an
 * identity provider, so these open in another tab (state/sign-in.ts).
 */
export function SessionEnded() {
  const other = otherSession.value;
  // A message may offer to undo an action of the ended session.
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
            <Button text="Continue" onClick={dropPage} />
          </p>
          <p>To keep it, sign in here as before.</p>
        </>
      ) : (
        <p>Sign in again to continue. What you have typed is still here.</p>
      )}
      {session.value?.person && (
        <p>
          <a class="button" href="/console/sign-in" target="_blank" rel="noopener">
            Sign in with your account, in another tab
          </a>
        </p>
      )}
      <SignInForm />
    </Dialog>
  );
}
