import type { Item } from "@item-vault/client";
import { useLayoutEffect, useRef } from "preact/hooks";
import { dropItem } from "../state/items.ts";
import { addressOf, navigate } from "../state/route.ts";
import { showToast } from "../state/toasts.ts";
import { undoChange } from "../state/undo.ts";
import { Icon } from "../ui/icon.tsx";
import { type Route } from "../routes.ts";
import { ConflictView } from "./conflict-view.tsx";
import { type Draft, draftOf } from "../items/draft.ts";
import type { Editor } from "./editor.ts";
import { ItemForm } from "./form.tsx";
import { LeaveGuard } from "../ui/leave.tsx";
import { listedEntries, query } from "../state/chosen-list.ts";
import { keyOfItem } from "../state/item-key.ts";

/** A form, or its replacement: a conflict, or the Item's deletion by another client. */

interface Props {
  readonly editor: Editor;
  readonly title: string;
}

export function EditorView({ editor, title }: Props) {
  const { status } = editor;
  const base = editor.base.value;
  const shown = useRef(true);
  useLayoutEffect(() => () => void (shown.current = false), []);
  const onSave = async () => {
    const isNew = editor.base.value === undefined;
    const item = await editor.save();
    // Input during the request is still unsaved.
    if (!item || editor.changed.value) return;
    if (isNew && !listedEntries.value.some(({ key }) => key === keyOfItem(item))) query.value = "";
    const change = editor.change();
    showToast("Saved", "done", change && undoChange(change));
    // After a slow request the user may be elsewhere.
    if (shown.current) navigate(placeOf(item), { replace: true });
  };
  const saveMerged = (draft: Draft) => {
    if (status.value.state !== "conflict") return;
    editor.rebase(status.value.theirs, draft);
    void onSave();
  };
  const cancel = () => navigate(placeOf(base?.item));
  return (
    <article class="item edit">
      <header>
        <a class="back button plain" href={addressOf(placeOf(base?.item))}>
          <Icon name="back" />
          {base ? "Item" : "Items"}
        </a>
        <h1>{title}</h1>
      </header>
      {status.value.state === "conflict" ? (
        <ConflictView
          sides={{ base: draftOf(base!.item), mine: editor.draft.value, theirs: draftOf(status.value.theirs.item) }}
          onSave={saveMerged}
          onCancel={() => (status.value = { state: "editing" })}
        />
      ) : status.value.state === "deleted" ? (
        <Deleted editor={editor} onSave={() => void onSave()} />
      ) : (
        <ItemForm editor={editor} onSave={() => void onSave()} onCancel={cancel} />
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

/** The Item itself; the list for a new one. */
const placeOf = (item: Item | undefined): Route =>
  item ? { view: "items", vault: item.vault.id, item: item.id } : { view: "items" };

/** Somebody has deleted the Item. What was typed can become a new one, because a deleted Item keeps its id. */
function Deleted({ editor, onSave }: { readonly editor: Editor; readonly onSave: () => void }) {
  const first = useRef<HTMLButtonElement>(null);
  const item = editor.base.value?.item;
  useLayoutEffect(() => {
    first.current?.focus();
    if (item) dropItem(item.vault.id, item.id);
  }, []);
  const create = () => {
    editor.rebase(undefined, editor.draft.value);
    onSave();
  };
  const discard = () => {
    editor.discard();
    navigate({ view: "items" }, { replace: true });
  };
  const files = item?.files.length ?? 0;
  return (
    <div class="failure" role="alert">
      <p>This item was deleted. Your changes haven’t been saved.</p>
      {files > 0 && <p>The new item will not have its files.</p>}
      <div class="actions">
        <button type="button" class="primary" ref={first} onClick={create}>
          Create a new item
        </button>
        <button type="button" onClick={discard}>
          Discard changes
        </button>
      </div>
    </div>
  );
}
