import type { File, Item } from "@item-vault/client";
import { call, send } from "../state/client.ts";
import { isolate } from "../ui/texts.ts";
import { difference, type Difference } from "./difference.ts";

/** Returns an earlier version of the Item. Throws an ItemVaultError; 404 `version_not_found` if the version is destroyed. */
export async function loadVersion({ id, vault }: Item, version: number, signal?: AbortSignal): Promise<Item> {
  const path = { vault: vault.id, item: id, version };
  return (await call("GET /v1/vaults/{vault}/items/{item}/versions/{version}", { path, signal })).data;
}

/** Returns the differences from the version to the Item. Throws an ItemVaultError. */
export async function loadDifference(item: Item, version: number): Promise<Difference[]> {
  const before = await loadVersion(item, version);
  return [...difference(before, item), ...(await compareContents(before, item))];
}

/** Returns the Files of two versions with equal sizes and different contents. Throws an ItemVaultError. */
export async function compareContents(before: Item, after: Item, signal?: AbortSignal): Promise<Difference[]> {
  return (await Promise.all(before.files.map((file) => compareContent(before, after, file, signal)))).flat();
}

/**
 * A content that was replaced by one of the same size is found by its entity tag, which changes with every upload (contract 9.11).
 * A difference of the name or the size is a row of its own already.
 */
async function compareContent(before: Item, after: Item, file: File, signal: AbortSignal | undefined): Promise<Difference[]> {
  const other = after.files.find(({ id }) => id === file.id);
  if (!other || other.size !== file.size) return [];
  const path = `/v1/vaults/${after.vault.id}/items/${after.id}/files/${encodeURIComponent(file.id)}/content`;
  const tags = await Promise.all(
    [before.version, after.version].map(async (version) =>
      // The operations of the API have GET, and HEAD wherever GET is.
      (await send("HEAD", path, { query: { version }, signal })).headers.get("ETag"),
    ),
  );
  if (tags[0] === tags[1]) return [];
  return [{ key: `contents/${file.id}`, kind: "changed", name: `Content of ${isolate(file.name)}`, concealed: false }];
}
