import type { Item } from "@item-vault/client";
import { call } from "./client.ts";
import { isGone } from "../failures/explain.ts";

/** The writes of an Item that depend on nothing else of it, and so carry no If-Match. */

/** The ids of an Item, as the paths of requests have them. */
export interface ItemPath {
  readonly vault: string;
  readonly item: string;
}

export const setFavorite = (path: ItemPath, favorite: boolean) =>
  call("PATCH /v1/vaults/{vault}/items/{item}", { path, body: [{ op: "replace", path: "/favorite", value: favorite }] });

export const setArchived = (path: ItemPath, archived: boolean) =>
  archived
    ? call("POST /v1/vaults/{vault}/items/{item}/archive", { path })
    : call("POST /v1/vaults/{vault}/items/{item}/unarchive", { path });

/** Restores a deleted Item. A missing one was restored by an earlier request, or by others. Throws as `call` does. */
export async function restoreItem(path: ItemPath): Promise<Item> {
  try {
    return (await call("POST /v1/vaults/{vault}/deleted-items/{item}/restore", { path })).data;
  } catch (error) {
    if (!isGone(error)) throw error;
    return (await call("GET /v1/vaults/{vault}/items/{item}", { path })).data;
  }
}
