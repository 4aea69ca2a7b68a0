import type { Item, ItemSummary } from "@item-vault/client";

/** Returns the list's data of an Item: no value of a field but the user name, as in `include=username` (contract 11.8). */
export function summaryOf(item: Item): ItemSummary {
  const { sections: _sections, fields, files: _files, ...summary } = item;
  const username = fields.find(({ purpose }) => purpose === "USERNAME")?.value;
  return username ? { ...summary, username } : summary;
}
