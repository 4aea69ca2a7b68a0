import { useLayoutEffect } from "preact/hooks";
import { Sidebar } from "../items/sidebar.tsx";
import { route } from "../state/route.ts";
import { session } from "../state/session.ts";
import { DeletedItemView } from "./deleted-item.tsx";
import { DeletedList } from "./deleted-list.tsx";
import { loadDeleted } from "./state.ts";

/** The deleted Items, and beside them the one that the address names. On a narrow screen one of the two. */
export function DeletedView() {
  const { vault, item } = route.value;
  const token = session.value?.token;
  useLayoutEffect(() => void loadDeleted(), [token]);
  return (
    <div class={`panes ${item !== undefined ? "has-item" : ""}`}>
      <Sidebar />
      <DeletedList />
      <section class="pane content" aria-label="Item">
        {vault !== undefined && item !== undefined ? (
          <DeletedItemView key={`${vault}/${item}`} vault={vault} id={item} />
        ) : (
          <p class="empty">Select a deleted item to view, restore or permanently delete it.</p>
        )}
      </section>
    </div>
  );
}
