import type { Item } from "@item-vault/client";
import { call } from "./client.ts";
import { isGone } from "./error-kind.ts";

/** The ids of an Item, as the paths of requests have them. */
export interface ItemPath {
  readonly vault: string;
  readonly item: string;
}

/**
 * Restores a deleted Item. One that is not among the deleted ones may be restored: by a request whose answer was lost, or by somebody else.
 * Errors: as `call`.
 */
export async function restoreItem(path: ItemPath): Promise<Item> {
  try {
    return (await call("POST /v1/vaults/{vault}/deleted-items/{item}/restore", { path })).data;
  } catch (error) {
    if (!isGone(error)) throw error;
    return (await call("GET /v1/vaults/{vault}/items/{item}", { path })).data;
  }
}
