import { type File as StoredFile, type Item, ItemVaultError } from "@item-vault/client";
import { call } from "../api/client.ts";
import { type ContentKind, kindOf } from "./content-kind.ts";

/** Contents of Files, loaded only when the user asks for them. */

interface Options {
  readonly signal: AbortSignal;
  /** The first bytes only, so many. */
  readonly first?: number;
  /** Gets the bytes that have arrived. */
  readonly onProgress?: (received: number) => void;
}

/** Errors: throws an ItemVaultError, or the reason of `signal`. */
export async function loadContent(item: Item, file: StoredFile, { signal, first, onProgress }: Options): Promise<Blob> {
  const path = { vault: item.vault.id, item: item.id, file: file.id };
  const headers = first === undefined ? {} : { Range: `bytes=0-${first - 1}` };
  const { data } =
    item.state === "DELETED"
      ? await call("GET /v1/vaults/{vault}/deleted-items/{item}/files/{file}/content", { path, headers, signal })
      : await call("GET /v1/vaults/{vault}/items/{item}/files/{file}/content", { path, headers, signal });
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let received = 0;
  try {
    const reader = data.body!.getReader();
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      chunks.push(read.value);
      onProgress?.((received += read.value.length));
    }
  } catch {
    signal.throwIfAborted();
    throw new ItemVaultError("The download ended early. Try again.", { kind: "download", status: 0 });
  }
  // A type that no browser opens as a page.
  return new Blob(chunks, { type: "application/octet-stream" });
}

/** What a preview shows. */
export type Preview = { readonly image: Blob } | { readonly text: string } | { readonly none: string };

const TEXT_LIMIT = 256 * 1024; // bytes
const IMAGE_LIMIT = 20_000_000;

const NO_PREVIEW = "There is no preview of this kind of file.";

/** Loads what a preview shows: of large contents that have none only the beginning. Errors: as `loadContent`. */
export async function loadPreview(item: Item, file: StoredFile, signal: AbortSignal): Promise<Preview> {
  if (file.size === 0) return { none: "This file is empty." };
  const whole = file.size <= TEXT_LIMIT;
  const start = await loadContent(item, file, { signal, ...(whole ? {} : { first: TEXT_LIMIT }) });
  const kind: ContentKind = kindOf(new Uint8Array(await start.arrayBuffer()), whole);
  if (!kind) return { none: NO_PREVIEW };
  if ("text" in kind) return whole ? kind : { none: "This text is larger than 256 KB. Download it to read it." };
  if (file.size > IMAGE_LIMIT) return { none: "This image is larger than 20 MB. Download it to view it." };
  const image = whole ? start : await loadContent(item, file, { signal });
  return { image: image.slice(0, image.size, kind.image) };
}
