import type { Field, Item } from "@item-vault/client";
import { DEFAULT_RECIPE } from "@item-vault/model/recipe";
import { isErrorKind, isGone, isUncertain } from "../failures/explain.ts";
import { draftOf } from "../items/draft.ts";
import { labelOf } from "../items/field-types.ts";
import { call } from "../state/client.ts";
import * as requests from "../state/item-writes.ts";
import { type ItemPath, pathOf } from "../state/item-writes.ts";
import { dropItem } from "../state/items.ts";
import { isOpen, type Opened, openItem, takeWritten, type Written } from "../state/opened.ts";
import type { Rotated } from "../state/rotated.ts";
import { showFailure, showWritten } from "../state/toasts.ts";
import { undo, undoChange, undoDeletion } from "../state/undo.ts";
import { generate, withField } from "./draft.ts";
import { operationsOf } from "./requests.ts";

/** The writes of the buttons of an Item. A failure is shown as a message. */

/** Makes a write of one attribute. Its message, which undoes it, outlives the open Item, and so has no values. */
function setterOf(write: (path: ItemPath, value: boolean) => Promise<Written>, done: string, undone: string) {
  const set = async (path: ItemPath, value: boolean): Promise<void> => {
    try {
      const written = await write(path, value);
      takeWritten(written);
      const before = () => set(path, !value);
      showWritten(value ? done : undone, written.data, undo(before));
    } catch (error) {
      tell(path, error);
    }
  };
  return (item: Pick<Item, "id" | "vault">, value: boolean): Promise<void> => set(pathOf(item), value);
}

export const setFavorite = setterOf(requests.setFavorite, "Added to favorites", "Removed from favorites");
export const setArchived = setterOf(requests.setArchived, "Archived", "Unarchived");

/** A failure after which a stale Item is loaded again. */
function tell({ vault, item }: ItemPath, error: unknown): void {
  showFailure(error);
  // Without an answer it may have been written.
  const isOutdated = isErrorKind(error, "precondition") || isErrorKind(error, "network") || isGone(error);
  // A late undo may concern another Item than the open one.
  if (isOutdated && isOpen(vault, item)) void openItem(vault, item);
}

export async function rotate(opened: Opened, field: Field): Promise<Rotated | undefined> {
  const { item } = opened;
  const draft = draftOf(item);
  const after = generate(DEFAULT_RECIPE)!.value;
  const values = { title: item.title, name: labelOf(field), before: field.value, after, version: item.version };
  const body = operationsOf(draft, withField(draft, field.id, { value: after }));
  try {
    const written = await requests.patchItem(opened, body);
    takeWritten(written);
    return { ...values, isWritten: true, undo: undoChange(written) };
  } catch (error) {
    tell(pathOf(item), error);
    const isWritten = isErrorKind(error, "overtaken");
    return isWritten || isUncertain(error) ? { ...values, isWritten, undo: undefined } : undefined;
  }
}

/** Deletes the shown version. Returns true if the Item is gone. */
export async function deleteItem({ item, etag }: Opened): Promise<boolean> {
  try {
    await call("DELETE /v1/vaults/{vault}/items/{item}", { path: pathOf(item), headers: { "If-Match": etag } });
  } catch (error) {
    // Already deleted, by an earlier request whose answer was lost, or by another client.
    if (!isGone(error)) {
      tell(pathOf(item), error);
      return false;
    }
  }
  dropItem(item.vault.id, item.id);
  showWritten("Deleted", item, undoDeletion(pathOf(item)));
  return true;
}
