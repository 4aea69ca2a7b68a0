import type { File as StoredFile, Item } from "@item-vault/client";
import { loadContent } from "../state/content.ts";
import { type ContentKind, kindOf } from "./content-kind.ts";

/** The preview of a File. */

export type Preview = { readonly image: Blob } | { readonly text: string } | { readonly none: string };

const TEXT_LIMIT = 256 * 1024; // bytes
const IMAGE_LIMIT = 20_000_000;

const NO_PREVIEW = "No preview available for this kind of file.";

/** Loads a preview. Of large contents without a preview only the beginning is loaded. Throws as `loadContent` does. */
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
