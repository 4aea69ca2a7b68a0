import { utf8Of } from "../../bytes.ts";
import type { Loss, TransferItem } from "../../item.ts";
import { lookup } from "../../lookup.ts";
import { Losses } from "../../losses.ts";
import { protect } from "./protect.ts";
import { UUID } from "./shapes.ts";
import { writeItem } from "./write-item.ts";

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
    const id = folders.get(tag) ?? crypto.randomUUID();
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

/**
 * Returns an id for each Item: its own, or a new one if it has none or shares it with an Item of another vault. Files are stored under the id
 * of their Item.
 */
function freeIds(items: readonly TransferItem[]): string[] {
  const used = new Set<string>();
  return items.map(({ id, sourceId }) => {
    const own = [id, sourceId].find((one) => one !== undefined && UUID.test(one));
    const free = own === undefined || used.has(own.toLowerCase()) ? crypto.randomUUID() : own;
    used.add(free.toLowerCase());
    return free;
  });
}

/** The texts that Bitwarden's servers accept. They measure the encrypted form, and refuse a whole import for one text that is too long. */

/** The most characters of an encrypted text, by the name of its attribute. */
const ENCRYPTED_MAX: Readonly<Record<string, number>> = {
  notes: 10_000,
  uri: 10_000,
  value: 5_000,
  privateKey: 5_000,
  publicKey: 5_000,
};
const ENCRYPTED_MAX_OF_OTHERS = 1_000;

/** `2.<iv>|<ciphertext>|<mac>` without the ciphertext: base64 of 16 and of 32 bytes, and four further characters. */
const FRAME = 24 + 44 + 4;
const BLOCK_BYTES = 16;

/** Returns how many bytes of a text fit: base64 of whole blocks of AES, of which the last one has padding. */
function bytesThatFit(encrypted: number): number {
  const bytes = Math.floor((encrypted - FRAME) / 4) * 3;
  return Math.floor(bytes / BLOCK_BYTES) * BLOCK_BYTES - 1;
}

/** Counts the texts of an item that are too long, at any depth. */
function countTooLong(value: unknown, title: string, losses: Losses, name = ""): void {
  if (Array.isArray(value)) for (const element of value) countTooLong(element, title, losses, name);
  else if (typeof value === "object" && value !== null)
    for (const [attribute, part] of Object.entries(value)) countTooLong(part, title, losses, attribute);
  if (typeof value !== "string") return;
  const most = bytesThatFit(lookup(ENCRYPTED_MAX, name) ?? ENCRYPTED_MAX_OF_OTHERS);
  if (utf8Of(value).length > most)
    losses.add(`“${name}” of more than ${most} bytes: Bitwarden refuses the whole file until it is shorter`, title);
}
