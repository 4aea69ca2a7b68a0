import { type File, type Item, ItemVaultError } from "@item-vault/client";
import { comparableOf, writableOf } from "@item-vault/transfer/writable";
import { isErrorKind, isGone, isUncertain, Problem } from "../failures/explain.ts";
import { call } from "../state/client.ts";
import { dispositionOf, loadContent } from "../state/content.ts";
import type { Opened } from "../state/opened.ts";

/**
 * A copy of an Item in a vault; for a move, also the deletion of the Item. A failed transfer continues where it stopped: the id of the copy
 * and the Idempotency-Keys of its Files are chosen once, so nothing is copied twice.
 */

export interface Transfer {
  /** The Item as it was read when the transfer began. */
  readonly source: Opened;
  readonly target: string;
  readonly id: string;
  /** The Idempotency-Keys of the uploads, by the ids of the Files. */
  readonly keys: ReadonlyMap<string, string>;
  /** The ids of the Files whose copies the service has confirmed. */
  readonly copied: Set<string>;
  /** True if the service may have made the copy. */
  begun: boolean;
  /** True if the service may still make the copy: the request that makes it has no answer. */
  uncertain: boolean;
  /** The copy, when it is complete and was compared. */
  copy?: Opened;
}

interface Progress {
  readonly signal: AbortSignal;
  /** Is called with the name of the File that is copied next, and the number of copied Files. */
  readonly onFile?: (name: string, done: number) => void;
}

/** Plans a transfer of the Item as it is now. Throws an ItemVaultError, also for an Item with a broken File, which the copy would lack. */
export async function planTransfer({ id, vault }: Pick<Item, "id" | "vault">, target: string): Promise<Transfer> {
  const path = { vault: vault.id, item: id };
  const { data: item, etag = "" } = await call("GET /v1/vaults/{vault}/items/{item}", { path });
  if (item.brokenFiles) throw new ItemVaultError("A file of this item is damaged", { kind: "integrity", status: 500 });
  const keys = new Map(item.files.map((file) => [file.id, crypto.randomUUID() as string]));
  return { source: { item, etag }, target, id: crypto.randomUUID(), keys, copied: new Set(), begun: false, uncertain: false };
}

export class CopyDiffers extends Problem {}

/** Makes the missing parts of the copy, and compares it. Throws an ItemVaultError, CopyDiffers, or the reason of the aborted signal. */
export async function makeCopy(transfer: Transfer, { signal, onFile }: Progress): Promise<Opened> {
  const { source, target, id, copied } = transfer;
  await makeItem(transfer);
  signal.throwIfAborted();
  for (const file of source.item.files.filter((each) => !copied.has(each.id))) {
    onFile?.(file.name, copied.size);
    await copyFile(transfer, file, signal);
    copied.add(file.id);
  }
  const path = { vault: target, item: id };
  if (source.item.state === "ARCHIVED") await call("POST /v1/vaults/{vault}/items/{item}/archive", { path, signal });
  const { data: item, etag = "" } = await call("GET /v1/vaults/{vault}/items/{item}", { path, signal });
  const [made, wanted] = [item, source.item].map((each) => JSON.stringify(comparableOf(each)));
  if (made !== wanted) throw new CopyDiffers("The copy differs from the item.");
  return { item, etag };
}

/**
 * Creates the copy. A repeated request gets a 409 `item_exists`, because the id is random: the first request has made the copy. It is not
 * aborted, because a request in flight could make the copy after `discard`.
 */
async function makeItem(transfer: Transfer): Promise<void> {
  const { source, target, id } = transfer;
  const isRepeated = transfer.begun;
  transfer.begun = true;
  try {
    await call("POST /v1/vaults/{vault}/items", {
      path: { vault: target },
      headers: { "Item-Id": id },
      body: { ...writableOf(source.item), vault: { id: target } },
    });
  } catch (error) {
    if (!isRepeated || !isErrorKind(error, "item_exists")) {
      transfer.uncertain ||= isUncertain(error);
      throw error;
    }
  }
  transfer.uncertain = false;
}

/** Copies a File. The service compares its SHA-256 (contract 9.5), and a repeated upload with the same key makes no second copy (10.9). */
async function copyFile({ source: { item }, target, id, keys }: Transfer, file: File, signal: AbortSignal): Promise<void> {
  const content = await loadContent(item, file, { version: item.version, signal });
  if (content.size !== file.size) throw new ItemVaultError("The download ended early", { kind: "network", status: 0 });
  const digest = await crypto.subtle.digest("SHA-256", await content.arrayBuffer());
  await call("POST /v1/vaults/{vault}/items/{item}/files", {
    path: { vault: target, item: id },
    query: file.section ? { section: file.section.id } : {},
    headers: {
      "Content-Disposition": dispositionOf(file.name),
      "Content-Digest": `sha-256=:${btoa(String.fromCharCode(...new Uint8Array(digest)))}:`,
      "Idempotency-Key": keys.get(file.id)!,
    },
    body: content,
    signal,
  });
}

/** Deletes the Item after it was copied, unless it was changed since it was read. A missing Item was deleted by an earlier request, or by others. */
export async function removeSource({ source: { item, etag } }: Transfer): Promise<"deleted" | "changed"> {
  const path = { vault: item.vault.id, item: item.id };
  try {
    await call("DELETE /v1/vaults/{vault}/items/{item}", { path, headers: { "If-Match": etag } });
  } catch (error) {
    if (isErrorKind(error, "precondition")) return "changed";
    if (!isGone(error)) throw error;
  }
  return "deleted";
}

/** Deletes an unwanted copy. Returns true if there was one. While it is uncertain, its absence proves nothing: it may be made later. */
export async function discard({ target, id, uncertain }: Transfer): Promise<boolean> {
  try {
    await call("DELETE /v1/vaults/{vault}/items/{item}", { path: { vault: target, item: id } });
  } catch (error) {
    if (!isGone(error) || uncertain) throw error;
    return false;
  }
  return true;
}
