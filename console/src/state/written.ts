import type { Item, ItemSummary } from "@item-vault/client";
import { putItem } from "./items.ts";
import { open, setOpened } from "./opened.ts";

/** The answer to a write of an Item. */
export interface Written {
  readonly data: Item;
  readonly etag: string | undefined;
}

/** The Item as the list has it: without its values, which the page drops when the Item is closed. */
function summaryOf({ sections: _sections, fields, files: _files, ...summary }: Item): ItemSummary {
  const username = fields.find(({ purpose }) => purpose === "USERNAME")?.value ?? "";
  return username === "" ? summary : { ...summary, username };
}

/** Makes the list show an Item as it was written, and the view too, if the Item is still open. */
export function takeWritten({ data: item, etag = "" }: Written): void {
  putItem(summaryOf(item));
  if (open.value.state !== "closed" && open.value.id === item.id) setOpened({ item, etag });
}
