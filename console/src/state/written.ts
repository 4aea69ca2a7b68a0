import type { Item } from "@item-vault/client";
import { summaryOf } from "../items/summary.ts";
import { putItem } from "./items.ts";
import { open, setOpened } from "./opened.ts";

/** The answer to a write of an Item. */
export interface Written {
  readonly data: Item;
  readonly etag: string | undefined;
}

/** Makes the list show an Item as it was written, and the view too, if the Item is still open. */
export function takeWritten({ data: item, etag = "" }: Written): void {
  putItem(summaryOf(item));
  if (open.value.state !== "closed" && open.value.id === item.id) setOpened({ item, etag });
}
