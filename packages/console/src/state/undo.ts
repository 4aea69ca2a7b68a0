import type { Item } from "@item-vault/client";
import { isGone, Problem } from "../failures/explain.ts";
import { call } from "./client.ts";
import { type ItemPath, restoreItem, restoreVersion } from "./item-writes.ts";
import { dropItem, may, putItem } from "./items.ts";
import { isOpen, takeWritten, type Written } from "./opened.ts";
import { navigate, route } from "./route.ts";
import { session } from "./session.ts";
import { type Action, showFailure, showWritten } from "./toasts.ts";

/** The undo of a write: the action of the message that reports the write. */

export const undo = (run: () => Promise<void>): Action => ({
  label: "Undo",
  run: () => void run().catch(showFailure),
});

/** After an Item was changed: restores the previous version, unless somebody has written since. Undefined where there is none. */
export function undoChange({ data: { id, vault, version }, etag = "" }: Written): Action | undefined {
  if (version < 2 || !may(vault.id, "r") || session.value!.settings.versionsKept === 0) return undefined;
  return undo(async () => {
    const written = await restoreVersion({ vault: vault.id, item: id }, version - 1, etag);
    takeWritten(written);
    showWritten("Undone", written.data);
  });
}

/** Returns true if the session may restore an Item that it deletes, and the service keeps it. */
export const canRestore = (vault: string): boolean => may(vault, "r") && session.value!.settings.deletedRetentionDays > 0;

/** Returns the undo of a deletion. It restores the Item, and shows it if nothing else was opened since. */
export function undoDeletion(path: ItemPath): Action | undefined {
  if (!canRestore(path.vault)) return undefined;
  return undo(async () => {
    const item = await restoreItem(path);
    putItem(item);
    showWritten("Restored", item);
    if (route.value.view === "items" && route.value.item === undefined) navigate({ view: "items", ...path });
  });
}

/** A copy that was made, without its values. */
export type CopyRef = ItemPath & Readonly<{ etag: string }>;

/** After an Item was moved: moves it back. */
export function undoMove(from: ItemPath, copy: CopyRef): Action | undefined {
  if (!canRestore(from.vault)) return undefined;
  return undo(async () => {
    showWritten("Moved back", await moveBack(from, copy));
    if (isOpen(copy.vault, copy.item)) navigate({ view: "items", ...from });
  });
}

/** Restores and returns a moved Item, and deletes the copy. Throws as `call` does, or a Problem if the copy was changed since, and so stays. */
export async function moveBack(from: ItemPath, { etag, ...copy }: CopyRef): Promise<Item> {
  const item = await restoreItem(from);
  putItem(item);
  try {
    await call("DELETE /v1/vaults/{vault}/items/{item}", { path: copy, headers: { "If-Match": etag } });
  } catch (error) {
    if (!isGone(error)) throw new Problem("Restored, but the copy is still in the other vault.", error);
  }
  // Nobody asked for the copy, so it is removed from the deleted Items, too. If that is refused, the copy stays there.
  if (may(copy.vault, "d")) await call("DELETE /v1/vaults/{vault}/deleted-items/{item}", { path: copy }).catch(() => undefined);
  dropItem(copy.vault, copy.item);
  return item;
}
