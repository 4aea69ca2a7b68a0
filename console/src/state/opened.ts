import { signal } from "@preact/signals";
import { ItemVaultError, type Item } from "@item-vault/client";
import { call } from "../api/client.ts";
import { dropItem } from "./items.ts";

/** The Item that is open, with its values. They are fetched when it is opened, and dropped when another place is opened. */

export interface Opened {
  readonly item: Item;
  /** The entity tag, for `If-Match`. */
  readonly etag: string;
}

export type OpenState =
  | { readonly state: "closed" }
  | { readonly state: "loading"; readonly id: string }
  | { readonly state: "loaded"; readonly id: string; readonly opened: Opened }
  | { readonly state: "failed"; readonly id: string; readonly error: unknown };

export const open = signal<OpenState>({ state: "closed" });

/** Loads an Item. An answer that arrives after another Item was opened is ignored. */
export async function openItem(vault: string, id: string): Promise<void> {
  open.value = { state: "loading", id };
  const isCurrent = () => open.value.state !== "closed" && open.value.id === id;
  try {
    const { data, etag } = await call("GET /v1/vaults/{vault}/items/{item}", { path: { vault, item: id } });
    if (isCurrent()) open.value = { state: "loaded", id, opened: { item: data, etag: etag ?? "" } };
  } catch (error) {
    if (error instanceof ItemVaultError && error.kind === "item_not_found") dropItem(id);
    if (isCurrent()) open.value = { state: "failed", id, error };
  }
}

/**
 * Finds out whether the open Item exists still when the list does not have it. The list may be older than the Item, which therefore stays
 * as it is shown until the answer says that it does not exist.
 */
export async function recheckItem(vault: string, id: string): Promise<void> {
  try {
    await call("GET /v1/vaults/{vault}/items/{item}", { path: { vault, item: id } });
  } catch (error) {
    const isGone = error instanceof ItemVaultError && error.kind === "item_not_found";
    if (isGone && open.value.state !== "closed" && open.value.id === id) open.value = { state: "failed", id, error };
  }
}

/** Replaces the open Item by the answer to a write. */
export function setOpened(opened: Opened): void {
  open.value = { state: "loaded", id: opened.item.id, opened };
}

export function closeItem(): void {
  open.value = { state: "closed" };
}
