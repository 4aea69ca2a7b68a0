import type { Item } from "@item-vault/client";
import { listedEntry, putItem } from "./items.ts";
import { isOpen, loadItem, open, setOpened } from "./opened.ts";

/** Updates the page after a write of an Item. */

export interface Written {
  readonly data: Item;
  readonly etag: string | undefined;
}

/** Shows a written Item in the list, and in the view if the Item is still open and no newer version is shown. */
export function takeWritten(written: Written): void {
  putItem(written.data);
  showWritten(written);
}

function showWritten({ data: item, etag = "" }: Written): void {
  const { value } = open;
  if (!isOpen(item.vault.id, item.id)) return;
  if (value.state !== "loaded" || value.opened.item.version <= item.version) setOpened({ item, etag });
}

/**
 * Loads the Item after a write whose answer is not the Item, for example of a File. An Item that was since deleted does not return to the
 * list. Throws as `call` does.
 */
export async function refreshItem(vault: string, id: string): Promise<void> {
  const written = await loadItem(vault, id);
  if (listedEntry(vault, id)) putItem(written.data);
  showWritten(written);
}
