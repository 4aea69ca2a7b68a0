import { call } from "../api/client.ts";
import { summaryOf } from "../items/summary.ts";
import { putItem } from "./items.ts";
import { open, setOpened } from "./opened.ts";

/** After a write whose answer is not the Item: its new version takes the place of the old one, with its entity tag. */

/** Errors: as `call`. */
export async function refreshItem(vault: string, id: string): Promise<void> {
  const { data, etag } = await call("GET /v1/vaults/{vault}/items/{item}", { path: { vault, item: id } });
  putItem(summaryOf(data));
  const { value } = open;
  const isOlder = value.state === "loaded" && value.id === id && value.opened.item.version <= data.version;
  if (isOlder) setOpened({ item: data, etag: etag ?? "" });
}
