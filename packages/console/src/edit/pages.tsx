import { useRef, useState } from "preact/hooks";
import { creatableVaults, may } from "../state/items.ts";
import { itemKey } from "../state/item-key.ts";
import { open, openItem, type Opened } from "../state/opened.ts";
import { route } from "../state/route.ts";
import { Failure } from "../ui/failure.tsx";
import { titleOf } from "../items/categories.ts";
import { draftOf } from "../items/draft.ts";
import { createEditor } from "./editor.ts";
import { EditorView } from "./editor-view.tsx";
import { templateOf } from "./new-draft.ts";
import { isolate } from "../ui/texts.ts";

/** The pages that edit an Item and make a new one. */

export function EditPage() {
  const { vault = "", item = "" } = route.value;
  const { value } = open;
  // The form keeps its start when the Item is loaded again or a permission is lost, so that no input is lost.
  const begun = useRef<Opened>(undefined);
  if (value.state === "loaded" && value.key === itemKey(vault, item) && may(vault, "w")) begun.current ??= value.opened;
  if (begun.current) return <Edit vault={vault} opened={begun.current} />;
  if (!may(vault, "w")) return <p class="empty">You don’t have permission to change items in this vault.</p>;
  if (value.state === "failed") return <Failure error={value.error} retry={() => void openItem(vault, item)} />;
  return <p class="quiet">Loading…</p>;
}

function Edit({ vault, opened }: { readonly vault: string; readonly opened: Opened }) {
  const [editor] = useState(() => createEditor({ vault, id: opened.item.id, draft: draftOf(opened.item), base: opened }));
  return <EditorView editor={editor} title={`Edit ${isolate(titleOf(opened.item))}`} />;
}

/** The address of a new Item names the vault in which it begins, and the id that it will have. */
export function NewPage() {
  const { vault = "", item = "" } = route.value;
  const [editor] = useState(() => createEditor({ vault, id: item, draft: templateOf("LOGIN") }));
  const begun = useRef(false);
  begun.current ||= creatableVaults().length > 0;
  if (!begun.current) return <p class="empty">You don’t have permission to create items.</p>;
  return <EditorView editor={editor} title="New item" />;
}
