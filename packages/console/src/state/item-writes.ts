import type { Item, PatchOperation } from "@item-vault/client";
import { isGone } from "../failures/explain.ts";
import { call } from "./client.ts";
import type { Opened } from "./opened.ts";

export type ItemPath = Readonly<{ vault: string; item: string }>;

export const pathOf = ({ vault, id }: Pick<Item, "id" | "vault">): ItemPath => ({ vault: vault.id, item: id });

/** Changes the Item as it was opened. Throws as `call` does; 412 if it was changed since. */
export const patchItem = ({ item, etag }: Opened, body: PatchOperation[]) =>
  call("PATCH /v1/vaults/{vault}/items/{item}", { path: pathOf(item), headers: { "If-Match": etag }, body });

/** Makes an earlier version of the Item the current one. Throws as `patchItem` does. */
export const restoreVersion = (path: ItemPath, version: number, etag: string) =>
  call("POST /v1/vaults/{vault}/items/{item}/versions/{version}/restore", {
    path: { ...path, version },
    headers: { "If-Match": etag },
  });

// These depend on no other state of the Item, and so carry no If-Match.
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
