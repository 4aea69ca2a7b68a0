import { useSignal } from "@preact/signals";
import { addressOf } from "../state/route.ts";
import { may } from "../state/items.ts";
import type { Opened } from "../state/opened.ts";
import { Icon } from "../ui/icon.tsx";
import { write } from "./write.ts";

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
    <button
      type="button"
      aria-pressed={favorite}
      aria-disabled={waiting.value}
      onClick={() => void write(waiting, (writes) => writes.setFavorite(opened.item, !favorite))}
    >
      <Icon name="star" />
      Favorite
    </button>
  );
}

export const VersionsAction = ({ opened: { item } }: Props) => (
  <a class="button" href={addressOf({ view: "items", vault: item.vault.id, item: item.id, page: "versions" })}>
    Versions
  </a>
);
