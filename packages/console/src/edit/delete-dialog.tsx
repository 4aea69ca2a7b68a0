import { useState } from "preact/hooks";
import { vaultName } from "../state/items.ts";
import type { Opened } from "../state/opened.ts";
import { navigate } from "../state/route.ts";
import { session } from "../state/session.ts";
import { FormDialog } from "../ui/form.tsx";
import { afterRender } from "../ui/page.tsx";
import { plural } from "../ui/plural.ts";
import { explainRestore } from "../ui/retention.ts";
import { titleOf } from "../ui/texts.ts";
import { focusList } from "../ui/virtual-list.tsx";
import { deleteItem } from "./writes.ts";

/** The confirmation before an Item is deleted. Afterwards the focus is in the list. */
export function DeleteDialog({ opened: latest, onClose }: { readonly opened: Opened; readonly onClose: () => void }) {
  // A later write by another client replaces the open Item, but the confirming person has not seen it.
  const [opened] = useState(latest);
  const { item } = opened;
  const onConfirm = async () => {
    const gone = await deleteItem(opened);
    onClose();
    if (!gone) return;
    navigate({ view: "items" }, { replace: true });
    afterRender(focusList);
  };
  return (
    <FormDialog title="Delete this item?" action={onConfirm} submit="Delete" danger onClose={onClose}>
      <p class="named">
        “{titleOf(item)}” in {vaultName(item.vault.id)}
        {item.files.length > 0 && `, with ${plural(item.files.length, "file")}`}
      </p>
      <p>{explainRestore(session.value!.settings)}</p>
    </FormDialog>
  );
}
