import { randomUUID } from "node:crypto";
import type { Loss, TransferItem } from "../../item.ts";
import { Losses } from "../../losses.ts";
import { countTooLong } from "./limits.ts";
import { writeItem } from "./write-item.ts";
import { protect } from "./protect.ts";
import { UUID } from "./shapes.ts";

/** Writes Bitwarden's export of an individual vault. The first tag of an Item becomes its folder. */

interface Written {
  readonly bytes: Uint8Array;
  readonly losses: Loss[];
}

interface Document {
  readonly text: string;
  /** The ids of the items in the document, in the order of the Items. */
  readonly ids: readonly string[];
}

export async function writeJson(items: readonly TransferItem[], { password }: { readonly password?: string }): Promise<Written> {
  const losses = new Losses();
  const { text } = writeDocument(items, losses);
  for (const { title, files } of items) losses.add("Files (the format bitwarden-zip has them)", title, files.length);
  const written = password === undefined ? text : JSON.stringify(await protect(text, password), null, 2);
  return { bytes: new TextEncoder().encode(written), losses: losses.list() };
}

export async function writeZip(items: readonly TransferItem[]): Promise<Written> {
  const losses = new Losses();
  const { zipSync } = await import("fflate");
  const { text, ids } = writeDocument(items, losses);
  const entries: Record<string, Uint8Array> = { "data.json": new TextEncoder().encode(text) };
  for (const [n, { title, files }] of items.entries()) {
    for (const { name, section, read } of files) {
      if (section !== undefined) losses.add("sections of Files", title);
      entries[freePath(entries, `attachments/${ids[n]}/`, name.replaceAll(/[/\\]/g, "_"))] = await read();
    }
  }
  return { bytes: zipSync(entries), losses: losses.list() };
}

/** A path that no entry has: the second `a.txt` becomes `2-a.txt`. */
function freePath(entries: Readonly<Record<string, unknown>>, folder: string, name: string): string {
  let path = `${folder}${name}`;
  for (let n = 2; Object.hasOwn(entries, path); n++) path = `${folder}${n}-${name}`;
  return path;
}

function writeDocument(items: readonly TransferItem[], losses: Losses): Document {
  const folders = new Map<string, string>();
  const folderOf = ([tag]: readonly string[]): string | null => {
    if (tag === undefined) return null;
    const id = folders.get(tag) ?? randomUUID();
    folders.set(tag, id);
    return id;
  };
  const ids = freeIds(items);
  const written = items.map((item, n) => writeItem(item, { id: ids[n]!, folder: folderOf(item.tags) }, losses));
  for (const [n, { title, tags }] of items.entries()) countTooLong({ ...written[n], folder: tags[0] }, title, losses);
  losses.add("names of vaults", undefined, new Set(items.map(({ vault }) => vault).filter(Boolean)).size);
  const list = [...folders].map(([name, id]) => ({ id, name }));
  const text = JSON.stringify({ encrypted: false, folders: list, items: written }, null, 2);
  return { text, ids };
}

/** An id for each Item: its own, or another one where it has none, or an Item of another vault has the same. Files lie under the id of their Item. */
function freeIds(items: readonly TransferItem[]): string[] {
  const used = new Set<string>();
  return items.map(({ id, sourceId }) => {
    const own = [id, sourceId].find((one) => one !== undefined && UUID.test(one));
    const free = own === undefined || used.has(own.toLowerCase()) ? randomUUID() : own;
    used.add(free.toLowerCase());
    return free;
  });
}
