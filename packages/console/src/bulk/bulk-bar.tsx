import { untracked, useSignal } from "@preact/signals";
import { useState } from "preact/hooks";
import type { ItemSummary } from "@item-vault/client";
import { labelOfCategory } from "../items/categories.ts";
import { type Act, type AskProps, bulk } from "../state/bulk.ts";
import { chosenList, listsOf, nameOfList } from "../state/chosen-list.ts";
import { may, transferTargets } from "../state/items.ts";
import { clearSelection, selectedItems, selectListed } from "../state/selection.ts";
import { session } from "../state/session.ts";
import { Button } from "../ui/button.tsx";
import { Select } from "../ui/controls.tsx";
import { FormDialog, InputError, textOf } from "../ui/form.tsx";
import { lazy } from "../ui/lazy.tsx";
import { Menu } from "../ui/menu.tsx";
import { afterRender } from "../ui/page.tsx";
import { plural } from "../ui/plural.ts";
import { explainRestore, explainRetention } from "../ui/retention.ts";
import { focusList } from "../ui/virtual-list.tsx";
import { addTag, deleteItems, moveTo, setArchived, setFavorites } from "./acts.ts";

// In one script: the start of an action can show it even after the connection is lost.
export { BulkDialog } from "./bulk-dialog.tsx";

function AskVault({ items, onBegin, onClose }: AskProps) {
  const from = new Set(items.map(({ vault }) => vault.id));
  const targets = transferTargets().filter(({ id }) => !(from.size === 1 && from.has(id)));
  const begin = async (data: FormData) => onBegin(moveTo(textOf(data, "vault")));
  return (
    <FormDialog title={`Move ${plural(items.length, "item")}`} action={begin} submit="Move" onClose={onClose}>
      <Select label="Vault" name="vault" options={targets.map(({ id, name }) => [id, name])} />
      <p class="quiet explanation">
        Earlier versions are not copied: they stay with the deleted {items.length === 1 ? "item" : "items"}, which can be restored
        in the old vault.
      </p>
    </FormDialog>
  );
}

function AskTag({ items, onBegin, onClose }: AskProps) {
  const [tags] = useState(() => untracked(() => listsOf("tag").map((list) => nameOfList(list, labelOfCategory))));
  const begin = async (data: FormData) => {
    const tag = textOf(data, "tag").trim();
    if (tag === "") throw new InputError("Enter a tag.");
    onBegin(addTag(tag));
  };
  return (
    <FormDialog title={`Tag ${plural(items.length, "item")}`} action={begin} submit="Add tag" onClose={onClose}>
      <label>
        Tag
        <input name="tag" list="bulk-tags" autocomplete="off" />
      </label>
      <datalist id="bulk-tags">
        {tags.slice(0, 500).map((tag) => (
          <option key={tag}>{tag}</option>
        ))}
      </datalist>
    </FormDialog>
  );
}

const AskDelete = ({ items, onBegin, onClose }: AskProps) => (
  <FormDialog
    title={`Delete ${plural(items.length, "item")}?`}
    action={async () => onBegin(deleteItems)}
    submit="Delete"
    danger
    onClose={onClose}
  >
    <p>{(items.length === 1 ? explainRestore : explainRetention)(session.value!.settings)}</p>
  </FormDialog>
);

const ASKS = {
  move: AskVault,
  tag: AskTag,
  delete: AskDelete,
  export: lazy(() => import("./export.tsx"), "AskExport"),
};

type Asked = keyof typeof ASKS;

function endSelection(): void {
  clearSelection();
  afterRender(focusList);
}

export function BulkBar() {
  /** The Items as they were selected: others may delete or change them later. */
  const asked = useSignal<{ readonly name: Asked; readonly items: readonly ItemSummary[] } | undefined>(undefined);
  const items = selectedItems.value;
  const ask = (name: Asked) => (asked.value = { name, items });
  const begin = (act: Act, chosen: readonly ItemSummary[] = items) => {
    asked.value = undefined;
    // After the dialog that has asked is closed, so that messages are in the next one.
    afterRender(() => (bulk.value = { act, items: chosen }));
  };
  const { name, items: chosen = [] } = asked.value ?? {};
  const Ask = name && ASKS[name];
  return (
    <>
      {items.length > 0 && <Bar items={items} ask={ask} begin={begin} />}
      {Ask && <Ask items={chosen} onBegin={(act) => begin(act, chosen)} onClose={() => (asked.value = undefined)} />}
    </>
  );
}

type BarProps = Readonly<{ items: readonly ItemSummary[]; ask: (asked: Asked) => void; begin: (act: Act) => void }>;

function Bar({ items, ask, begin }: BarProps) {
  const writable = items.every(({ vault }) => may(vault.id, "w"));
  const readable = items.every(({ vault }) => may(vault.id, "r"));
  const changeable = writable && readable;
  const favorite = !items.every((item) => item.favorite);
  const archived = chosenList.value.kind !== "archived";
  const changes = [
    { label: favorite ? "Add to favorites" : "Remove from favorites", run: () => begin(setFavorites(favorite)) },
    { label: archived ? "Archive" : "Unarchive", run: () => begin(setArchived(archived)) },
  ];
  const actions = [
    ...(changeable ? changes : []),
    ...(readable ? [{ label: "Export…", run: () => ask("export") }] : []),
    ...(writable ? [{ label: "Delete…", run: () => ask("delete") }] : []),
    { label: "Select all", run: selectListed },
  ];
  return (
    <section class="bulk" aria-label="Selected items">
      <output>{plural(items.length, "item")} selected</output>
      {changeable && transferTargets().length > 1 && <Button text="Move…" onClick={() => ask("move")} />}
      {changeable && <Button text="Tag…" onClick={() => ask("tag")} />}
      {!writable && <span class="quiet">You don’t have write access to every vault.</span>}
      <Menu label="More actions for the selected items" actions={actions} />
      <Button text="×" class="plain" label="Clear selection" title="Clear selection" onClick={endSelection} />
    </section>
  );
}
