import { useLayoutEffect } from "preact/hooks";
import { Bar, Sidebar } from "./frame/sidebar.tsx";
import { openByKey, Palette } from "./palette/palette.tsx";
import { type ViewName, VIEWS } from "./routes.ts";
import { AdminOffer, askedGrant, askedToSignOut } from "./session-acts.tsx";
import { bulk } from "./state/bulk.ts";
import { loadItems } from "./state/items.ts";
import { open } from "./state/opened.ts";
import { rotated } from "./state/rotated.ts";
import { addressOf, route } from "./state/route.ts";
import { askedCodes, canOpen, linkNotice, session, sessionState, shownView } from "./state/session.ts";
import { lazy } from "./ui/lazy.tsx";
import { Page } from "./ui/page.tsx";
import { titleOf, presentText, shorten } from "./ui/texts.ts";
import { Toasts } from "./ui/toasts.tsx";
import { VIEW_COMPONENTS } from "./views.tsx";

addEventListener("keydown", openByKey);

const RotatedDialog = lazy(() => import("./edit/rotated-dialog.tsx"), "RotatedDialog");
const signInPage = () => import("./sign-in-page.tsx");
const SignInPage = lazy(signInPage, "SignInPage");
const GrantDialog = lazy(signInPage, "GrantDialog");
const SessionEnded = lazy(signInPage, "SessionEnded");
const LinkNotice = lazy(signInPage, "LinkNotice");
const LinkQuestion = lazy(signInPage, "LinkQuestion");
const SignOutQuestion = lazy(signInPage, "SignOutQuestion");
const BulkDialog = lazy(() => import("./bulk/bulk-bar.tsx"), "BulkDialog");

/** The page: the sign-in form, or the frame and the view that the address names. */
export function App() {
  const state = sessionState.value;
  if (state === "starting") return <p class="alone quiet">Loading…</p>;
  if (!session.value) return <SignInPage />;
  return (
    <>
      <Sidebar />
      {linkNotice.value && state !== "ended" && <LinkNotice />}
      {/* The next user to sign in must not see what is open. It stays in the page, because unsaved input is part of it. */}
      <main class={state === "ended" ? "ended" : ""}>
        <View name={shownView(route.value.view)} />
        {rotated.value && <RotatedDialog rotated={rotated.value} onClose={() => (rotated.value = undefined)} />}
        {bulk.value && <BulkDialog key={bulk.value.act.title} {...bulk.value} />}
      </main>
      <Bar />
      {state === "signed-in" && <Palette />}
      {askedGrant.value && <GrantDialog grant={askedGrant.value} />}
      {askedCodes.value.length > 0 && <LinkQuestion />}
      {askedToSignOut.value && <SignOutQuestion />}
      {state === "ended" && <SessionEnded />}
      <Toasts />
    </>
  );
}

function View({ name }: { readonly name: ViewName }) {
  const Shown = VIEW_COMPONENTS[name]!;
  const token = session.value?.token;
  const { value } = open;
  const item = name === "items" && value.state === "loaded" && sessionState.value !== "ended" ? value.opened.item : undefined;
  const title = item ? shorten(titleOf(item)) : VIEWS[name].label;
  useLayoutEffect(() => {
    document.title = presentText(`${title} · Item Vault`);
  }, [title]);
  // Another token has other vaults.
  useLayoutEffect(() => {
    if (token) void loadItems();
  }, [token]);
  return canOpen(name, session.value!) ? <Shown /> : <Refused name={name} />;
}

/** Replaces a view that the session may not open. */
const Refused = ({ name }: { readonly name: ViewName }) => (
  <Page title={VIEWS[name].label} actions={<AdminOffer />}>
    {session.value!.admin ? (
      <p class="empty">
        As an admin you open vaults first, under <a href={addressOf({ view: "vaults" })}>Vaults</a>.
      </p>
    ) : (
      <p class="empty">Only an admin can open this. Sign in as admin, or ask an administrator.</p>
    )}
  </Page>
);
