import type { ItemSummary } from "@item-vault/client";
import { isGone, Problem } from "../failures/explain.ts";
import { CopyDiffers, discard, makeCopy, planTransfer, removeSource, type Transfer } from "../move/transfer.ts";
import type { Act } from "../state/bulk.ts";
import { call } from "../state/client.ts";
import { keyOfItem } from "../state/item-key.ts";
import { dropItem, putItem } from "../state/items.ts";
import { type Opened, takeWritten } from "../state/opened.ts";
import { canRestore, moveBack } from "../state/undo.ts";
import * as requests from "../state/item-writes.ts";

/** Actions on several Items, and their undo. */

const PATH = "/v1/vaults/{vault}/items/{item}" as const;

const pathOf = ({ vault, id }: ItemSummary) => ({ vault: vault.id, item: id });

export const setFavorites = (favorite: boolean): Act => ({
  title: favorite ? "Adding to favorites" : "Removing from favorites",
  done: favorite ? "added to favorites" : "removed from favorites",
  run: async (item) => {
    if (item.favorite === favorite) return undefined;
    const set = async (wanted: boolean) => takeWritten(await requests.setFavorite(pathOf(item), wanted));
    await set(favorite);
    return () => set(!favorite);
  },
});

export const setArchived = (archived: boolean): Act => ({
  title: archived ? "Archiving" : "Unarchiving",
  done: archived ? "archived" : "unarchived",
  run: async (item) => {
    if ((item.state === "ARCHIVED") === archived) return undefined;
    const set = async (wanted: boolean) => takeWritten(await requests.setArchived(pathOf(item), wanted));
    await set(archived);
    return () => set(!archived);
  },
});

/** Adds a tag to each Item. Undone only if nobody has written since. */
export function addTag(tag: string): Act {
  /** The Idempotency-Keys: a request that is sent again, because its answer was lost, adds no second tag. */
  const keys = new Map<string, string>();
  return {
    title: "Adding the tag",
    done: "tagged",
    run: async (item) => {
      if (item.tags.includes(tag)) return undefined;
      const key = keys.get(keyOfItem(item)) ?? crypto.randomUUID();
      keys.set(keyOfItem(item), key);
      const body = [{ op: "add" as const, path: "/tags/-", value: tag }];
      const written = await call(`PATCH ${PATH}`, { path: pathOf(item), headers: { "Idempotency-Key": key }, body });
      takeWritten(written);
      const headers = { "If-Match": written.etag! };
      const before = [{ op: "replace" as const, path: "/tags", value: written.data.tags.slice(0, -1) }];
      return async () => takeWritten(await call(`PATCH ${PATH}`, { path: pathOf(item), headers, body: before }));
    },
  };
}

/** A missing Item was deleted by a request whose answer was lost, or by another client. */
export const deleteItems: Act = {
  title: "Deleting",
  done: "deleted",
  run: async (item) => {
    await call(`DELETE ${PATH}`, { path: pathOf(item) }).catch((error: unknown) => {
      if (!isGone(error)) throw error;
    });
    dropItem(item.vault.id, item.id);
    if (!canRestore(item.vault.id)) return undefined;
    return async () => putItem(await requests.restoreItem(pathOf(item)));
  },
};

/** Moves Items to the vault `target`. An incomplete copy is deleted; if that fails, the next try continues with it. */
export function moveTo(target: string): Act {
  const transfers = new Map<string, Transfer>();
  return {
    title: "Moving",
    done: "moved",
    run: async (item, signal) => {
      if (item.vault.id === target) return undefined;
      const transfer = transfers.get(keyOfItem(item)) ?? (await planTransfer(item, target));
      transfers.set(keyOfItem(item), transfer);
      const copy = (transfer.copy ??= await copyOf(transfer, signal, () => transfers.delete(keyOfItem(item))));
      putItem(copy.item);
      const removed = await removeSource(transfer).catch((error: unknown) => {
        throw new Problem("Copied, but it may still be in its old vault.", error);
      });
      if (removed === "changed") throw new Problem("Someone changed it while it was copied: it is now in both vaults.");
      transfers.delete(keyOfItem(item));
      dropItem(item.vault.id, item.id);
      if (!canRestore(item.vault.id)) return undefined;
      const made = { vault: target, item: copy.item.id, etag: copy.etag };
      return () => moveBack(pathOf(item), made);
    },
  };
}

/** Makes the copy. An incomplete copy is deleted. `onDiscarded` is called then. */
async function copyOf(transfer: Transfer, signal: AbortSignal, onDiscarded: () => void): Promise<Opened> {
  try {
    return await makeCopy(transfer, { signal });
  } catch (error) {
    await discard(transfer).catch(() => {
      throw new Problem("An incomplete copy may remain in the other vault.", error);
    });
    onDiscarded();
    throw error instanceof CopyDiffers ? new Problem("The copy differed from the item and was deleted.") : error;
  }
}
