import { useSignal } from "@preact/signals";
import { addressOf } from "../state/route.ts";
import { may, transferTargets } from "../state/items.ts";
import type { Opened } from "../state/opened.ts";
import { lazy } from "../ui/lazy.tsx";
import { Menu, type MenuAction } from "../ui/menu.tsx";
import { write } from "./write.ts";
import { Button } from "../ui/button.tsx";

/** The buttons of an Item. Those that write are shown to a session that may write to the vault. */

interface Props {
  readonly opened: Opened;
}

const isWritable = ({ item }: Opened): boolean => may(item.vault.id, "w");

export function EditAction({ opened }: Props) {
  const { vault, id } = opened.item;
  if (!isWritable(opened)) return null;
  return (
    <a class="button" href={addressOf({ view: "items", vault: vault.id, item: id, page: "edit" })}>
      Edit
    </a>
  );
}

export function FavoriteAction({ opened }: Props) {
  const { favorite } = opened.item;
  const waiting = useSignal(false);
  if (!isWritable(opened)) return null;
  return (
    <Button
      icon="star"
      text="Favorite"
      aria-pressed={favorite}
      aria-disabled={waiting.value}
      onClick={() => void write(waiting, (writes) => writes.setFavorite(opened.item, !favorite))}
    />
  );
}

/** The menu of rare actions. */

const MoveDialog = lazy(() => import("../move/move-dialog.tsx"), "MoveDialog");
const DeleteDialog = lazy(() => import("../edit/delete-dialog.tsx"), "DeleteDialog");

export function MoreActions({ opened }: Props) {
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
