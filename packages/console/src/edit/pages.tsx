import type { Item } from "@item-vault/client";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { listedEntries, query } from "../state/chosen-list.ts";
import { itemKey, keyOfItem } from "../state/item-key.ts";
import { pathOf } from "../state/item-writes.ts";
import { creatableVaults, dropItem, may } from "../state/items.ts";
import { open, openItem, type Opened } from "../state/opened.ts";
import { navigate, route } from "../state/route.ts";
import { showToast } from "../state/toasts.ts";
import { undoChange } from "../state/undo.ts";
import { Pending } from "../ui/failure.tsx";
import { BackLink, focusOn } from "../ui/page.tsx";
import { LeaveGuard } from "../ui/leave.tsx";
import { isolate, titleOf } from "../ui/texts.ts";
import { type Draft, draftOf } from "../items/draft.ts";
import type { Route } from "../routes.ts";
import { ConflictView } from "./conflict-view.tsx";
import { Editor } from "./editor.ts";
import { ItemForm } from "./form.tsx";
import { templateOf } from "./new-draft.ts";
import { Button } from "../ui/button.tsx";

export function EditPage() {
  const { vault = "", item = "" } = route.value;
  const { value } = open;
  // The form keeps its start when the Item is loaded again or a permission is lost, so that no input is lost.
  const begun = useRef<Opened>(undefined);
  if (value.state === "loaded" && value.key === itemKey(vault, item) && may(vault, "w")) begun.current ??= value.opened;
  if (begun.current) return <Edit vault={vault} opened={begun.current} />;
  if (!may(vault, "w")) return <p class="empty">You don’t have permission to change items in this vault.</p>;
  return <Pending error={value.state === "failed" ? value.error : undefined} retry={() => void openItem(vault, item)} />;
}

function Edit({ vault, opened }: { readonly vault: string; readonly opened: Opened }) {
  const [editor] = useState(() => new Editor({ vault, id: opened.item.id, draft: draftOf(opened.item), base: opened }));
  return <EditorView editor={editor} title={`Edit ${isolate(titleOf(opened.item))}`} />;
}

/** The address of a new Item names the vault in which it begins, and the id that it will have. */
export function NewPage() {
  const { vault = "", item = "" } = route.value;
  const [editor] = useState(() => new Editor({ vault, id: item, draft: templateOf("LOGIN") }));
  const begun = useRef(false);
  begun.current ||= creatableVaults().length > 0;
  if (!begun.current) return <p class="empty">You don’t have permission to create items.</p>;
  return <EditorView editor={editor} title="New item" />;
}

/** The Item itself; the list for a new one. */
const placeOf = (item: Item | undefined): Route => ({ view: "items", ...(item && pathOf(item)) });

/** A form, or its replacement: a conflict, or the Item's deletion by another client. */
function EditorView({ editor, title }: { readonly editor: Editor; readonly title: string }) {
  const status = editor.status.value;
  const base = editor.base.value;
  const shown = useRef(true);
  useLayoutEffect(() => () => void (shown.current = false), []);
  const save = async () => {
    const isNew = editor.base.value === undefined;
    const item = await editor.save();
    // Input during the request is still unsaved.
    if (!item || editor.changed.value) return;
    if (isNew && !listedEntries.value.some(({ key }) => key === keyOfItem(item))) query.value = "";
    showToast("Saved", "done", editor.change && undoChange(editor.change));
    // After a slow request the user may be elsewhere.
    if (shown.current) navigate(placeOf(item), { replace: true });
  };
  const onSave = () => void save();
  const saveAs = (next: Opened | undefined) => (draft: Draft) => {
    editor.rebase(next, draft);
    onSave();
  };
  return (
    <article class="item edit">
      <header>
        <BackLink to={placeOf(base?.item)} text={base ? "Item" : "Items"} />
        <h1>{title}</h1>
      </header>
      {status.state === "conflict" ? (
        <ConflictView
          sides={{ base: draftOf(base!.item), mine: editor.draft.value, theirs: draftOf(status.theirs.item) }}
          onSave={saveAs(status.theirs)}
          onCancel={() => (editor.status.value = { state: "editing" })}
        />
      ) : status.state === "deleted" ? (
        <Deleted editor={editor} onCreate={() => saveAs(undefined)(editor.draft.value)} />
      ) : (
        <ItemForm editor={editor} onSave={onSave} onCancel={() => navigate(placeOf(base?.item))} />
      )}
      <LeaveGuard
        changed={() => editor.changed.value}
        title="Leave without saving?"
        text="Your changes haven’t been saved."
        stay="Keep editing"
        leave="Discard changes"
      />
    </article>
  );
}

/** Somebody has deleted the Item. What was typed can become a new one, because a deleted Item keeps its id. */
function Deleted({ editor, onCreate }: { readonly editor: Editor; readonly onCreate: () => void }) {
  const item = editor.base.value?.item;
  useLayoutEffect(() => {
    if (item) dropItem(item.vault.id, item.id);
  }, []);
  const discard = () => {
    editor.discard();
    navigate({ view: "items" }, { replace: true });
  };
  return (
    <div class="failure" role="alert">
      <p>This item was deleted. Your changes haven’t been saved.</p>
      {item && item.files.length > 0 && <p>The new item will not have its files.</p>}
      <div class="actions">
        <Button text="Create a new item" class="primary" ref={focusOn} onClick={onCreate} />
        <Button text="Discard changes" onClick={discard} />
      </div>
    </div>
  );
}
