import type { ItemSummary } from "@item-vault/client";
import { untracked } from "@preact/signals";
import { useState } from "preact/hooks";
import type { Act } from "../state/bulk.ts";
import { transferTargets } from "../state/items.ts";
import { labelOfCategory } from "../items/categories.ts";
import { listsOf, nameOfList } from "../state/chosen-list.ts";
import { session } from "../state/session.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Form, InputError, textOf } from "../ui/form.tsx";
import { plural } from "../ui/plural.ts";
import { explainRestore, explainRetention } from "../ui/retention.ts";
import { addTag, deleteItems, moveTo } from "./acts.ts";

/** What is asked before an act on several Items begins. */

interface Props {
  readonly items: readonly ItemSummary[];
  readonly onBegin: (act: Act) => void;
  readonly onClose: () => void;
}

export function AskVault({ items, onBegin, onClose }: Props) {
  const from = new Set(items.map(({ vault }) => vault.id));
  const targets = transferTargets().filter(({ id }) => !(from.size === 1 && from.has(id)));
  return (
    <Dialog title={`Move ${plural(items.length, "item")}`} onClose={onClose}>
      <Form action={async (data) => onBegin(moveTo(textOf(data, "vault")))} submit="Move" onCancel={onClose}>
        <label>
          To the vault
          <select name="vault">
            {targets.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <p class="quiet explanation">
          Earlier versions are not copied: they stay with the {items.length === 1 ? "item" : "items"}, which can be restored.
        </p>
      </Form>
    </Dialog>
  );
}

export function AskTag({ items, onBegin, onClose }: Props) {
  const [tags] = useState(() => untracked(() => listsOf("tag").map((list) => nameOfList(list, labelOfCategory))));
  const begin = async (data: FormData) => {
    const tag = textOf(data, "tag").trim();
    if (tag === "") throw new InputError("Enter a tag.");
    onBegin(addTag(tag));
  };
  return (
    <Dialog title={`Tag ${plural(items.length, "item")}`} onClose={onClose}>
      <Form action={begin} submit="Add the tag" onCancel={onClose}>
        <label>
          Tag
          <input name="tag" list="bulk-tags" autocomplete="off" />
        </label>
        <datalist id="bulk-tags">
          {tags.slice(0, 500).map((tag) => (
            <option key={tag} value={tag}>
              {tag}
            </option>
          ))}
        </datalist>
      </Form>
    </Dialog>
  );
}

export const AskDelete = ({ items, onBegin, onClose }: Props) => (
  <Dialog title={`Delete ${plural(items.length, "item")}?`} onClose={onClose}>
    <p>{(items.length === 1 ? explainRestore : explainRetention)(session.value!.settings)}</p>
    <div class="buttons">
      <button type="button" onClick={onClose}>
        Cancel
      </button>
      <button type="button" class="danger" onClick={() => onBegin(deleteItems)}>
        Delete
      </button>
    </div>
  </Dialog>
);
