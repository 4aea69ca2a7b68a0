import { useSignal } from "@preact/signals";
import { explain } from "../api/explain.ts";
import { formatRoute } from "../routes.ts";
import { may } from "../state/items.ts";
import type { Opened } from "../state/opened.ts";
import { showToast } from "../state/toasts.ts";
import { Icon } from "../ui/icon.tsx";
import { lazy } from "../ui/lazy.tsx";
import type { Part } from "./item-parts.ts";

/** The buttons of an Item that write. They are shown to a session that may write to the vault. */

interface Props {
  readonly opened: Opened;
}

const DeleteDialog = lazy(() => import("../edit/delete-dialog.tsx").then(({ DeleteDialog: loaded }) => loaded));

const isWritable = ({ item }: Opened): boolean => may(item.vault.id, "w");

export const EditAction: Part = ({ opened }: Props) => {
  const { vault, id } = opened.item;
  if (!isWritable(opened)) return null;
  return (
    <a class="button primary" href={formatRoute({ view: "items", vault: vault.id, item: id, page: "edit" })}>
      Edit
    </a>
  );
};

export const FavoriteAction: Part = ({ opened }: Props) => {
  const { favorite } = opened.item;
  const waiting = useSignal(false);
  if (!isWritable(opened)) return null;
  return (
    <button
      type="button"
      aria-pressed={favorite}
      aria-disabled={waiting.value}
      onClick={() => void write(waiting, (writes) => writes.setFavorite(opened.item, !favorite))}
    >
      <Icon name="star" />
      Favourite
    </button>
  );
};

export const ArchiveAction: Part = ({ opened }: Props) => {
  const archived = opened.item.state === "ARCHIVED";
  const waiting = useSignal(false);
  if (!isWritable(opened)) return null;
  return (
    <button
      type="button"
      aria-disabled={waiting.value}
      onClick={() => void write(waiting, (writes) => writes.setArchived(opened.item, !archived))}
    >
      {archived ? "Unarchive" : "Archive"}
    </button>
  );
};

export const DeleteAction: Part = ({ opened }: Props) => {
  const asked = useSignal(false);
  if (!isWritable(opened)) return null;
  return (
    <>
      <button type="button" class="danger" aria-haspopup="dialog" onClick={() => (asked.value = true)}>
        Delete
      </button>
      {asked.value && <DeleteDialog opened={opened} onClose={() => (asked.value = false)} />}
    </>
  );
};

type Writes = typeof import("../edit/writes.ts");

/** One write at a time: a second press while the first is under way does nothing. */
async function write(waiting: { value: boolean }, send: (writes: Writes) => Promise<void>): Promise<void> {
  if (waiting.value) return;
  waiting.value = true;
  try {
    await send(await import("../edit/writes.ts"));
  } catch (error) {
    // The script could not be loaded: the writes tell their own failures.
    showToast(explain(error), "failed");
  }
  waiting.value = false;
}
