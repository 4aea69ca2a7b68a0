import { navigate, route } from "./state/route.ts";
import { session, sessionState } from "./state/session.ts";
import { openDialogs } from "./state/toasts.ts";
import { afterRender } from "./ui/after-render.ts";
import { canOpen, shownView } from "./views.tsx";

/** The search of Items, from every view. */

/** Moves the focus to the search field, and shows the Items first where another view is open. */
export function searchItems(): void {
  // At once where the field is there, so that the next key is typed into it.
  if (shownView(route.peek().view) === "items" && isShown(field())) return focusSearch();
  navigate({ view: "items" });
  afterRender(focusSearch);
}

/** Ctrl+K (⌘K). */
export function searchByKey(event: KeyboardEvent): void {
  if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || openDialogs.peek() > 0) return;
  if (sessionState.peek() !== "signed-in" || !canOpen("items", session.peek()!)) return;
  event.preventDefault();
  searchItems();
}

const field = () => document.querySelector<HTMLInputElement>(".search input");

/** The list is hidden on a narrow screen while an Item is open. */
const isShown = (element: HTMLElement | null): boolean => element !== null && element.checkVisibility();

function focusSearch(): void {
  field()?.focus();
  field()?.select();
}
