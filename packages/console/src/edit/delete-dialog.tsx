import { useSignal } from "@preact/signals";
import { useState } from "preact/hooks";
import { explainRestore } from "../ui/retention.ts";
import { titleOf } from "../items/categories.ts";
import { vaultName } from "../state/items.ts";
import { session } from "../state/session.ts";
import type { Opened } from "../state/opened.ts";
import { navigate } from "../state/route.ts";
import { Dialog } from "../ui/dialog.tsx";
import { plural } from "../ui/plural.ts";
import { focusList } from "../ui/virtual-list.tsx";
import { deleteItem } from "./writes.ts";
import { afterRender } from "../ui/after-render.ts";

/** The confirmation before an Item is deleted. Afterwards the focus is in the list. */

interface Props {
  readonly opened: Opened;
  readonly onClose: () => void;
}

export function DeleteDialog({ opened: latest, onClose }: Props) {
  // A later write by another client replaces the open Item, but the confirming person has not seen it.
  const [opened] = useState(latest);
  const waiting = useSignal(false);
  const { item } = opened;
  const files = item.files.length;
  const confirm = async () => {
    if (waiting.value) return;
    waiting.value = true;
    const gone = await deleteItem(opened);
    onClose();
    if (!gone) return;
    navigate({ view: "items" }, { replace: true });
    afterRender(focusList);
  };
  return (
    <Dialog title="Delete this item?" onClose={onClose}>
      <p class="named">
        “{titleOf(item)}” in {vaultName(item.vault.id)}
        {files > 0 && `, with ${plural(files, "file")}`}
      </p>
      <p>{explainRestore(session.value!.settings)}</p>
      <div class="buttons">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button type="button" class="danger" aria-disabled={waiting.value} onClick={() => void confirm()}>
          Delete
        </button>
      </div>
    </Dialog>
  );
}
