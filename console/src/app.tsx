import { useLayoutEffect } from "preact/hooks";
import { GrantDialog } from "./grants.tsx";
import { Navigation } from "./navigation.tsx";
import { type ViewName, VIEWS } from "./routes.ts";
import { SessionEnded } from "./session-ended.tsx";
import { LinkNotice, LinkQuestion } from "./sign-in-link.tsx";
import { SignInPage } from "./sign-in.tsx";
import { SignOutQuestion } from "./sign-out.tsx";
import { loadItems } from "./state/items.ts";
import { navigate, route } from "./state/route.ts";
import { session, sessionState } from "./state/session.ts";
import { openDialogs } from "./state/toasts.ts";
import { Toasts } from "./ui/toasts.tsx";
import { canOpen, shownView, VIEW_COMPONENTS } from "./views.tsx";
import { afterRender } from "./ui/after-render.ts";

/** Ctrl+K (⌘K) moves the focus to the search field, and shows the Items first where another view is open. */
function searchByKey(event: KeyboardEvent): void {
  if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || openDialogs.peek() > 0) return;
  if (sessionState.peek() !== "signed-in" || !canOpen("items", session.peek()!)) return;
  event.preventDefault();
  // At once where the field is there, so that the next key is typed into it.
  if (shownView(route.peek().view) === "items") return focusSearch();
  navigate({ view: "items" });
  afterRender(focusSearch);
}

function focusSearch(): void {
  const field = document.querySelector<HTMLInputElement>(".search input");
  field?.focus();
  field?.select();
}
addEventListener("keydown", searchByKey);

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
      </main>
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
  useLayoutEffect(() => {
    document.title = `${VIEWS[name].label} · Item Vault`;
  }, [name]);
  // Another token has other vaults.
  useLayoutEffect(() => {
    if (token) void loadItems();
  }, [token]);
  return <Shown />;
}
