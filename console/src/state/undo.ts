import type { Item } from "@item-vault/client";
import { explain } from "../api/explain.ts";
import { isGone, type ItemPath, restoreItem } from "../api/restore-item.ts";
import { call } from "../api/client.ts";
import { dropItem, may, putItem } from "./items.ts";
import { navigate, route } from "./route.ts";
import { session } from "./session.ts";
import { summaryOf } from "./summary.ts";
import { type Action, showToast } from "./toasts.ts";
import { takeWritten, type Written } from "./written.ts";

/** What undoes a write: the action of the message that tells of the write. */

/** In: writes what was before, and tells it. */
export const undo = (run: () => Promise<void>): Action => ({
  label: "Undo",
  run: () => void run().catch((error: unknown) => showToast(explain(error), "failed")),
});

/** After an Item was changed: restores the version before, unless somebody has written since. Undefined where there is none. */
export function undoChange({ data: item, etag = "" }: Written): Action | undefined {
  if (item.version < 2 || !may(item.vault.id, "r")) return undefined;
  const path = { vault: item.vault.id, item: item.id, version: item.version - 1 };
  return undo(async () => {
    takeWritten(
      await call("POST /v1/vaults/{vault}/items/{item}/versions/{version}/restore", { path, headers: { "If-Match": etag } }),
    );
    showToast("The change is undone.");
  });
}

/** Whether the session may restore what it deletes, and the service keeps it. */
const canRestore = (vault: string): boolean => may(vault, "r") && session.value!.settings.deletedRetentionDays > 0;

/** After an Item was deleted: restores it, and shows it where nothing else was opened meanwhile. */
export function undoDeletion(path: ItemPath): Action | undefined {
  if (!canRestore(path.vault)) return undefined;
  return undo(async () => {
    putItem(summaryOf(await restoreItem(path)));
    showToast("The Item is restored.");
    if (route.value.view === "items" && route.value.item === undefined) navigate({ view: "items", ...path });
  });
}

/** After an Item was moved: restores it, and deletes the copy unless somebody has changed that. In: the ids of the Item; the copy as it was made. */
export function undoMove(from: ItemPath, { data: copy, etag = "" }: Written): Action | undefined {
  if (!canRestore(from.vault)) return undefined;
  return undo(async () => {
    const restored = await restoreItem(from);
    putItem(summaryOf(restored));
    await deleteCopy(copy, etag);
    dropItem(copy.id);
    showToast("The Item is where it was.");
    if (route.value.item === copy.id) navigate({ view: "items", ...from });
  });
}

const deleteCopy = (copy: Item, etag: string): Promise<unknown> =>
  call("DELETE /v1/vaults/{vault}/items/{item}", {
    path: { vault: copy.vault.id, item: copy.id },
    headers: { "If-Match": etag },
  }).catch((error: unknown) => {
    if (!isGone(error)) throw error;
  });
