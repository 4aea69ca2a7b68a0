import type { ComponentType } from "preact";
import { useLayoutEffect } from "preact/hooks";
import { isTab } from "../routes.ts";
import { entries, listState, may } from "../state/items.ts";
import { closeItem, openItem } from "../state/opened.ts";
import { route } from "../state/route.ts";
import { lazy } from "../ui/lazy.tsx";
import { ItemList } from "./item-list.tsx";
import { ItemView } from "./item-view.tsx";

const Home = lazy(() => import("../frame/home.tsx"), "Home");

/** The main view: the Items of a list, and the object in the address. A phone shows one of the two. */
export function ItemsView() {
  const { vault, item, page } = route.value;
  useLayoutEffect(() => {
    // The Item of a new page does not exist yet.
    if (vault === undefined || item === undefined || page === "new") return undefined;
    void openItem(vault, item);
    return closeItem;
  }, [vault, item, page === "new"]);
  const Page = page === undefined || isTab(page) ? undefined : FORMS[page];
  const shown = Page !== undefined || item !== undefined;
  return (
    <div class={`panes ${shown ? "has-item" : ""}`}>
      <ItemList />
      <section class="pane content" aria-label="Item">
        {Page ? (
          <Page key={`${vault}/${item}/${page}`} />
        ) : vault !== undefined && item !== undefined ? (
          <ItemView vault={vault} id={item} />
        ) : (
          <div class="home">
            {listState.value === "loaded" && matchMedia("(width >= 720px)").matches && <Home />}
            {entries.value.some(({ item: listed }) => may(listed.vault.id, "r")) && (
              <div class="empty">
                <p>Select an item to see it here.</p>
                <p class="keys">
                  Type to search, <kbd>↵</kbd> to open, <kbd>P</kbd> to copy the password.
                </p>
              </div>
            )}
          </div>
        )}
      </section>
    </div>
  );
}

/** Pages that replace an Item, by the last part of the address. */
const FORMS: Readonly<Record<"edit" | "new", ComponentType>> = {
  edit: lazy(() => import("../edit/pages.tsx"), "EditPage"),
  new: lazy(() => import("../edit/pages.tsx"), "NewPage"),
};
