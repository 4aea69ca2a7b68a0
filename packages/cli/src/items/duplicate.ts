import { isDeepStrictEqual } from "node:util";
import type { Client } from "@item-vault/client";
import { comparableOf, writableOf } from "@item-vault/transfer/writable";
import type { ItemPath } from "../api/find.ts";
import type { FileInfo, Item } from "../api/shapes.ts";
import { hashOf, measured, openContent, upload } from "../files/content.ts";
import { CliError } from "../frame/failure.ts";
import type { Io } from "../frame/io.ts";
import { printable } from "../frame/printable.ts";
import { tell } from "../output/format.ts";
import { startProgress } from "../output/progress.ts";

/** A copy of an Item in a vault, with its Files and without its earlier versions. */

/** An Item as it was read. */
export interface Loaded {
  readonly path: ItemPath;
  readonly etag: string | undefined;
  readonly item: Item;
}

export async function loadItem(client: Client, path: ItemPath): Promise<Loaded> {
  const { data: item, etag } = await client.call("GET /v1/vaults/{vault}/items/{item}", { path });
  return { path, etag, item };
}

/**
 * Copies and then compares the attributes, the fields, and the SHA-256 of each content read back. Returns the copy. Throws after it has
 * removed an incomplete copy; a killed program leaves it.
 */
export async function duplicate(io: Io, client: Client, source: Loaded, vault: string): Promise<Loaded> {
  const { brokenFiles } = source.item;
  if (brokenFiles)
    throw new CliError(
      `The item has files that cannot be decrypted: ${brokenFiles.map(printable).join(", ")}. Delete them before a copy`,
    );
  const body = { ...writableOf(source.item), vault: { id: vault } };
  const { data: made } = await client.call("POST /v1/vaults/{vault}/items", { path: { vault }, body });
  const path = { vault, item: made.id };
  try {
    for (const file of source.item.files) await copyFile(io, client, source, file, path);
    if (source.item.state === "ARCHIVED") await client.call("POST /v1/vaults/{vault}/items/{item}/archive", { path });
    const copy = await loadItem(client, path);
    if (!isDeepStrictEqual(comparableOf(copy.item), comparableOf(source.item)))
      throw new CliError("The copy differs from the item");
    return copy;
  } catch (error) {
    await removeCopy(io, client, path);
    throw error;
  }
}

/** Deletes a copy that is not wanted. */
export async function removeCopy(io: Io, client: Client, path: ItemPath): Promise<void> {
  const removed = await client.call("DELETE /v1/vaults/{vault}/items/{item}", { path }).then(
    () => true,
    () => false,
  );
  await tell(io, removed ? "The copy was deleted" : `An incomplete or outdated copy is left: ${placeOf(path)}`);
}

/** Returns the place of an Item, for people. */
export const placeOf = ({ vault, item }: ItemPath): string => `/v1/vaults/${vault}/items/${item}`;

async function copyFile(io: Io, client: Client, source: Loaded, file: FileInfo, path: ItemPath): Promise<void> {
  const progress = startProgress(io, file.name, file.size);
  try {
    const content = await openContent(client, source.path, file, source.item.version);
    const { bytes, hash } = measured(content, file.size, progress);
    const { name, size, section } = file;
    const copy = await upload(client, path, bytes, { name, size, section: section?.id });
    const same = copy.size === size && (await hashOf(await openContent(client, path, copy))) === hash.digest("hex");
    if (!same) throw new CliError(`The copy of the file ${file.id} differs`);
  } finally {
    progress.end();
  }
}
