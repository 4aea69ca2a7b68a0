import type { ItemSummary } from "@item-vault/client";
import { useSignal } from "@preact/signals";
import { type Act, bulk } from "../state/bulk.ts";
import { chosenList } from "../state/chosen-list.ts";
import { may, transferTargets } from "../state/items.ts";
import { clearSelection, selectedItems, selectListed } from "../state/selection.ts";
import { afterRender } from "../ui/after-render.ts";
import { focusList } from "../ui/virtual-list.tsx";
import { Menu } from "../ui/menu.tsx";
import { plural } from "../ui/plural.ts";
import { setArchived, setFavorites } from "./acts.ts";
import { AskDelete, AskTag, AskVault } from "./ask.tsx";

// In one script: what begins an act can show it, also when the connection is lost.
export { BulkDialog } from "./bulk-dialog.tsx";

/** What can be done with the selected Items, below the list. */

type Asked = "move" | "tag" | "delete";

const ASKS = { move: AskVault, tag: AskTag, delete: AskDelete };

export function BulkBar() {
  /** With the Items as they were selected then: others may delete or change them meanwhile. */
  const asked = useSignal<{ readonly name: Asked; readonly items: readonly ItemSummary[] } | undefined>(undefined);
  const items = selectedItems.value;
  const begin = (act: Act, chosen: readonly ItemSummary[]) => {
    asked.value = undefined;
    // After the dialog that has asked is closed, so that messages are in the next one.
    afterRender(() => (bulk.value = { act, items: chosen }));
  };
  const { name, items: chosen = [] } = asked.value ?? {};
  const Ask = name && ASKS[name];
  return (
    <>
      {items.length > 0 && (
        <Bar items={items} ask={(next) => (asked.value = { name: next, items })} begin={(act) => begin(act, items)} />
      )}
      {Ask && <Ask items={chosen} onBegin={(act) => begin(act, chosen)} onClose={() => (asked.value = undefined)} />}
    </>
  );
}

interface BarProps {
  readonly items: readonly ItemSummary[];
  readonly ask: (asked: Asked) => void;
  readonly begin: (act: Act) => void;
}

function endSelection(): void {
  clearSelection();
  afterRender(focusList);
}

function Bar({ items, ask, begin }: BarProps) {
  const writable = items.every(({ vault }) => may(vault.id, "w"));
  const changeable = writable && items.every(({ vault }) => may(vault.id, "r"));
  const allFavorites = items.every(({ favorite }) => favorite);
  const archived = chosenList.value.kind === "archived";
  const favorites = {
    label: allFavorites ? "Remove from favorites" : "Add to favorites",
    run: () => begin(setFavorites(!allFavorites)),
  };
  const archive = { label: archived ? "Unarchive" : "Archive", run: () => begin(setArchived(!archived)) };
  const actions = [
    ...(changeable ? [favorites, archive] : []),
    ...(writable ? [{ label: "Delete…", run: () => ask("delete") }] : []),
    { label: "Select all", run: selectListed },
  ];
  return (
    <section class="bulk" aria-label="Selected items">
      <output>{plural(items.length, "item")} selected</output>
      {changeable && transferTargets().length > 1 && (
        <button type="button" onClick={() => ask("move")}>
          Move…
        </button>
      )}
      {changeable && (
        <button type="button" onClick={() => ask("tag")}>
          Tag…
        </button>
      )}
      {!writable && <span class="quiet">You don’t have write access to every vault.</span>}
      <Menu label="More actions for the selected items" actions={actions} />
      <button type="button" class="plain" aria-label="Clear selection" title="Clear selection" onClick={endSelection}>
        ×
      </button>
    </section>
  );
}
