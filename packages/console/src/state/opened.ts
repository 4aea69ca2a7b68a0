import type { Item } from "@item-vault/client";
import { signal } from "@preact/signals";
import { isGone } from "../failures/explain.ts";
import { call } from "./client.ts";
import { itemKey, keyOfItem } from "./item-key.ts";
import { dropItem, listedEntry, putItem } from "./items.ts";

/** The open Item with its values. They are fetched when it is opened, and dropped when another place is opened. */

export type Opened = Readonly<{ item: Item; etag: string }>;

export type OpenState =
  | { readonly state: "closed" }
  | { readonly state: "loading"; readonly key: string }
  | { readonly state: "loaded"; readonly key: string; readonly opened: Opened }
  | { readonly state: "failed"; readonly key: string; readonly error: unknown };

export const open = signal<OpenState>({ state: "closed" });

const OPENED_MAX = 5;

/** The keys of the Items that were opened last in this page, the last one first. */
export const openedKeys = signal<readonly string[]>([]);

/** Loads the Item from the service, with its entity tag. Throws as `call` does. */
export const loadItem = (vault: string, item: string) => call("GET /v1/vaults/{vault}/items/{item}", { path: { vault, item } });

/** Returns true if the Item is the open one, loaded or not. */
export const isOpen = (vault: string, id: string): boolean =>
  open.value.state !== "closed" && open.value.key === itemKey(vault, id);

/** Returns the Item with its entity tag, if it is the current state of the open Item: not an earlier version, and not a deleted Item. */
export const openedOf = (item: Item): Opened | undefined =>
  open.value.state === "loaded" && open.value.opened.item === item ? open.value.opened : undefined;

/** Loads an Item. An answer that arrives after another Item was opened is ignored. */
export async function openItem(vault: string, id: string): Promise<void> {
  const key = itemKey(vault, id);
  open.value = { state: "loading", key };
  try {
    const { data, etag } = await loadItem(vault, id);
    if (!isOpen(vault, id)) return;
    open.value = { state: "loaded", key, opened: { item: data, etag: etag ?? "" } };
    openedKeys.value = [...new Set([key, ...openedKeys.peek()])].slice(0, OPENED_MAX);
  } catch (error) {
    if (isGone(error)) dropItem(vault, id);
    if (isOpen(vault, id)) open.value = { state: "failed", key, error };
  }
}

export function closeItem(): void {
  open.value = { state: "closed" };
}

export type Written = Readonly<{ data: Item; etag: string | undefined }>;

/** Shows a written Item in the list, and in the view if the Item is still open and no newer version is shown. */
export function takeWritten(written: Written): void {
  putItem(written.data);
  showWritten(written);
}

function showWritten({ data: item, etag = "" }: Written): void {
  const { value } = open;
  if (!isOpen(item.vault.id, item.id)) return;
  if (value.state !== "loaded" || value.opened.item.version <= item.version)
    open.value = { state: "loaded", key: keyOfItem(item), opened: { item, etag } };
}

/** Loads the Item after a write whose answer is not the Item. An Item that was since deleted does not return to the list. */
export async function refreshItem(vault: string, id: string): Promise<void> {
  const written = await loadItem(vault, id);
  if (listedEntry(vault, id)) putItem(written.data);
  showWritten(written);
}
