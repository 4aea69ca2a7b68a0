import { useSignal } from "@preact/signals";
import { may, transferTargets } from "../state/items.ts";
import type { Opened } from "../state/opened.ts";
import { addressOf } from "../state/route.ts";
import { runOnce } from "../state/toasts.ts";
import { Button } from "../ui/button.tsx";
import { lazy } from "../ui/lazy.tsx";
import { Menu, type MenuAction } from "../ui/menu.tsx";

const MoveDialog = lazy(() => import("../move/move-dialog.tsx"), "MoveDialog");
const DeleteDialog = lazy(() => import("../edit/delete-dialog.tsx"), "DeleteDialog");

/** The buttons of an Item. Those that write are shown to a session that may write to the vault; rare actions are in a menu. */
export function ItemActions({ opened }: { readonly opened: Opened }) {
  const { item } = opened;
  const dialog = useSignal<"move" | "delete" | undefined>(undefined);
  const favoriteWaits = useSignal(false);
  const archiveWaits = useSignal(false);
  const isWritable = may(item.vault.id, "w");
  const archived = item.state === "ARCHIVED";
  const move: MenuAction = { label: "Move or copy…", run: () => (dialog.value = "move") };
  const writing: readonly MenuAction[] = [
    {
      label: archived ? "Unarchive" : "Archive",
      run: () => void write(archiveWaits, (writes) => writes.setArchived(item, !archived)),
    },
    { label: "Delete…", run: () => (dialog.value = "delete") },
  ];
  // A reader of this vault can copy to another vault.
  const actions = [...(transferTargets().length > 0 ? [move] : []), ...(isWritable ? writing : [])];
  const close = () => (dialog.value = undefined);
  return (
    <div class="actions">
      {isWritable && (
        <>
          <a class="button" href={addressOf({ view: "items", vault: item.vault.id, item: item.id, page: "edit" })}>
            Edit
          </a>
          <Button
            icon="star"
            text="Favorite"
            aria-pressed={item.favorite}
            aria-disabled={favoriteWaits.value}
            onClick={() => void write(favoriteWaits, (writes) => writes.setFavorite(item, !item.favorite))}
          />
        </>
      )}
      {actions.length > 0 && <Menu label="More actions" actions={actions} />}
      {dialog.value === "move" && <MoveDialog item={item} onClose={close} />}
      {dialog.value === "delete" && <DeleteDialog opened={opened} onClose={close} />}
    </div>
  );
}

/** The writes of the buttons of an Item, loaded with the first of them. */
type Writes = typeof import("../edit/writes.ts");

/** Sends one write at a time. */
export const write = (waiting: { value: boolean }, send: (writes: Writes) => Promise<void>): Promise<void> =>
  runOnce(waiting, async () => send(await import("../edit/writes.ts")));
