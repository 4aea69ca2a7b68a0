import { signal } from "@preact/signals";
import { navigate } from "./state/route.ts";
import { session } from "./state/session.ts";
import { showToast } from "./state/toasts.ts";
import { SignInForm } from "./sign-in.tsx";
import { Dialog } from "./ui/dialog.tsx";
import { afterRender } from "./ui/after-render.ts";

/** Adds a grant to the session: an admin opens vaults with a token, or a token holder becomes an admin. */

type Grant = "admin" | "token";

/** The grant requested by the open dialog. */
const asked = signal<Grant | undefined>(undefined);

export const askFor = (grant: Grant): void => void (asked.value = grant);

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

/** The dialog for a requested grant. It is outside the sidebar, whose popover closes when a dialog opens. */
export function GrantDialog() {
  const grant = asked.value;
  if (grant === undefined) return null;
  const { title, ...texts } = GRANTS[grant];
  const close = () => (asked.value = undefined);
  const onDone = () => {
    close();
    if (grant === "token") return navigate({ view: "items" });
    showToast("Signed in as admin");
    afterRender(focusSidebar);
  };
  return (
    <Dialog title={title} onClose={close}>
      <SignInForm {...texts} onDone={onDone} />
    </Dialog>
  );
}

/** The offer to become an admin. */
export const AdminOffer = () =>
  session.value?.admin === false && (
    <button type="button" onClick={() => askFor("admin")}>
      Sign in as admin
    </button>
  );
