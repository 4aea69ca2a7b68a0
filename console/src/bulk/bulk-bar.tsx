import type { ItemSummary } from "@item-vault/client";
import { useSignal } from "@preact/signals";
import { type Act, bulk } from "../state/bulk.ts";
import { chosenList } from "../state/chosen-list.ts";
import { may, vaults } from "../state/items.ts";
import { clearSelection, selectedItems, selectListed } from "../state/selection.ts";
import { Menu } from "../ui/menu.tsx";
import { plural } from "../ui/plural.ts";
import { setArchived, setFavorites } from "./acts.ts";
import { AskDelete, AskTag, AskVault } from "./ask.tsx";

/** What can be done with the selected Items, below the list. */

type Asked = "move" | "tag" | "delete";

const ASKS = { move: AskVault, tag: AskTag, delete: AskDelete };

export function BulkBar() {
  const asked = useSignal<Asked | undefined>(undefined);
  const items = selectedItems.value;
  if (items.length === 0) return null;
  const begin = (act: Act) => {
    asked.value = undefined;
    bulk.value = { act, items };
  };
  const Ask = asked.value && ASKS[asked.value];
  return (
    <>
      <Bar items={items} ask={(name) => (asked.value = name)} begin={begin} />
      {Ask && <Ask items={items} onBegin={begin} onClose={() => (asked.value = undefined)} />}
    </>
  );
}

interface BarProps {
  readonly items: readonly ItemSummary[];
  readonly ask: (asked: Asked) => void;
  readonly begin: (act: Act) => void;
}

function Bar({ items, ask, begin }: BarProps) {
  const writable = items.every(({ vault }) => may(vault.id, "w"));
  const readable = items.every(({ vault }) => may(vault.id, "r"));
  const allFavorites = items.every(({ favorite }) => favorite);
  const archived = chosenList.value.kind === "archived";
  const targets = vaults.value.filter(({ id }) => may(id, "r") && may(id, "w"));
  return (
    <div class="bulk" role="toolbar" aria-label="Selected Items">
      <strong>{plural(items.length, "Item")} selected</strong>
      {writable ? (
        <>
          {readable && targets.length > 1 && (
            <button type="button" onClick={() => ask("move")}>
              Move…
            </button>
          )}
          <button type="button" onClick={() => ask("tag")}>
            Tag…
          </button>
          <Menu
            label="More actions for the selected Items"
            actions={[
              {
                label: allFavorites ? "Remove from the favourites" : "Add to the favourites",
                run: () => begin(setFavorites(!allFavorites)),
              },
              { label: archived ? "Unarchive" : "Archive", run: () => begin(setArchived(!archived)) },
              { label: "Delete…", run: () => ask("delete") },
              { label: "Select all of the list", run: selectListed },
            ]}
          />
        </>
      ) : (
        <span class="quiet">You may not write to the vault of each.</span>
      )}
      <button type="button" class="plain" aria-label="End the selection" title="End the selection" onClick={clearSelection}>
        ×
      </button>
    </div>
  );
}
