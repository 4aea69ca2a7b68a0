import { useSignal } from "@preact/signals";
import { may, transferTargets } from "../state/items.ts";
import type { Opened } from "../state/opened.ts";
import { lazy } from "../ui/lazy.tsx";
import { Menu, type MenuAction } from "../ui/menu.tsx";
import { write } from "./write.ts";

/** The menu of an Item with rare actions: moving, copying, archiving and deleting it. */

const MoveDialog = lazy(() => import("../move/move-dialog.tsx").then((module) => module.MoveDialog));
const DeleteDialog = lazy(() => import("../edit/delete-dialog.tsx").then((module) => module.DeleteDialog));

export function MoreActions({ opened }: { readonly opened: Opened }) {
  const { item } = opened;
  const dialog = useSignal<"move" | "delete" | undefined>(undefined);
  const waiting = useSignal(false);
  const archived = item.state === "ARCHIVED";
  const move: MenuAction = { label: "Move or copy…", run: () => (dialog.value = "move") };
  const writing: readonly MenuAction[] = [
    {
      label: archived ? "Unarchive" : "Archive",
      run: () => void write(waiting, (writes) => writes.setArchived(item, !archived)),
    },
    { label: "Delete…", run: () => (dialog.value = "delete") },
  ];
  const actions = [
    // A reader of this vault can copy to another vault.
    ...(transferTargets().length > 0 ? [move] : []),
    ...(may(item.vault.id, "w") ? writing : []),
  ];
  if (actions.length === 0) return null;
  const close = () => (dialog.value = undefined);
  return (
    <>
      <Menu label="More actions" actions={actions} />
      {dialog.value === "move" && <MoveDialog item={item} onClose={close} />}
      {dialog.value === "delete" && <DeleteDialog opened={opened} onClose={close} />}
    </>
  );
}
