import type { Item } from "@item-vault/client";
import { summaryOf } from "./summary.ts";
import { listedEntry, putItem } from "./items.ts";
import { isOpen, loadItem, open, setOpened } from "./opened.ts";

/** What the page shows after an Item was written. */

/** An Item as it was written, with its entity tag. */
export interface Written {
  readonly data: Item;
  readonly etag: string | undefined;
}

/** Makes the list show an Item as it was written, and the view too, if the Item is still open and no newer version is shown. */
export function takeWritten(written: Written): void {
  putItem(summaryOf(written.data));
  showWritten(written);
}

function showWritten({ data: item, etag = "" }: Written): void {
  const { value } = open;
  if (!isOpen(item.vault.id, item.id)) return;
  if (value.state !== "loaded" || value.opened.item.version <= item.version) setOpened({ item, etag });
}

/**
 * After a write whose answer is not the Item, for example of a File: loads the Item. An Item that was deleted meanwhile does not come
 * back into the list. Errors: as `call`.
 */
export async function refreshItem(vault: string, id: string): Promise<void> {
  const written = await loadItem(vault, id);
  if (listedEntry(vault, id)) putItem(summaryOf(written.data));
  showWritten(written);
}
