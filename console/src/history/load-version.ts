import type { File, Item } from "@item-vault/client";
import { call, send } from "../api/client.ts";
import { difference, type Difference } from "./difference.ts";
import { isolate } from "../ui/texts.ts";

/** A version with its values, compared with the Item as it is. */

/** Out: what differs from the version to the Item. Errors: throws an ItemVaultError. */
export async function loadDifference(item: Item, version: number): Promise<Difference[]> {
  const path = { vault: item.vault.id, item: item.id, version };
  const { data: before } = await call("GET /v1/vaults/{vault}/items/{item}/versions/{version}", { path });
  const replaced = await Promise.all(before.files.map((file) => compareContent(before, item, file)));
  return [...difference(before, item), ...replaced.flat()];
}

/**
 * A content that was replaced by one of the same size is found by its entity tag, which changes with every upload (contract 9.11).
 * A difference of the name or the size is a row of its own already.
 */
async function compareContent(before: Item, after: Item, file: File): Promise<Difference[]> {
  const other = after.files.find(({ id }) => id === file.id);
  if (!other || other.size !== file.size) return [];
  const path = `/v1/vaults/${after.vault.id}/items/${after.id}/files/${encodeURIComponent(file.id)}/content`;
  const tags = await Promise.all(
    [before.version, after.version].map(async (version) =>
      // The operations of the API have GET, and HEAD wherever GET is.
      (await send("HEAD", path, { query: { version } })).headers.get("ETag"),
    ),
  );
  if (tags[0] === tags[1]) return [];
  return [{ key: `contents/${file.id}`, kind: "changed", name: `Content of ${isolate(file.name)}`, concealed: false }];
}
