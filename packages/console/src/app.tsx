import { useLayoutEffect } from "preact/hooks";
import { GrantDialog } from "./grants.tsx";
import { BottomBar, Navigation } from "./navigation.tsx";
import { type ViewName, VIEWS } from "./routes.ts";
import { openByKey, Palette } from "./palette/palette.tsx";
import { SessionEnded } from "./session-ended.tsx";
import { LinkNotice, LinkQuestion } from "./sign-in-link.tsx";
import { SignInPage } from "./sign-in.tsx";
import { SignOutQuestion } from "./sign-out.tsx";
import { bulk } from "./state/bulk.ts";
import { loadItems } from "./state/items.ts";
import { rotated } from "./state/rotated.ts";
import { route } from "./state/route.ts";
import { session, sessionState } from "./state/session.ts";
import { lazy } from "./ui/lazy.tsx";
import { Toasts } from "./ui/toasts.tsx";
import { shownView, VIEW_COMPONENTS } from "./views.tsx";
import { titleOf } from "./items/categories.ts";
import { open } from "./state/opened.ts";
import { presentText, shorten } from "./ui/texts.ts";

addEventListener("keydown", openByKey);

const RotatedDialog = lazy(() => import("./edit/rotated-dialog.tsx").then((module) => module.RotatedDialog));
const BulkDialog = lazy(() => import("./bulk/bulk-bar.tsx").then((module) => module.BulkDialog));

/** The page: the sign-in form, or the navigation and the view that the address names. */

export function App() {
  const state = sessionState.value;
  if (state === "starting") return <p class="alone quiet">Loading…</p>;
  if (!session.value) return <SignInPage />;
  return (
    <>
      <Navigation />
      {state !== "ended" && <LinkNotice />}
      {/* Who signs in next may not see what is open. It stays in the page, because what was typed is a part of it. */}
      <main class={state === "ended" ? "ended" : ""}>
        <View name={shownView(route.value.view)} />
        {rotated.value && <RotatedDialog rotated={rotated.value} onClose={() => (rotated.value = undefined)} />}
        {bulk.value && <BulkDialog key={bulk.value.act.title} {...bulk.value} />}
      </main>
      <BottomBar />
      {state === "signed-in" && <Palette />}
      <GrantDialog />
      <LinkQuestion />
      <SignOutQuestion />
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
  return <Shown />;
}
