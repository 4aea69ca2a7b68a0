import type { Item, ItemSummary, Permission, Vault } from "@item-vault/client";
import { covers, itemsIn, permissionIn, vaultsWith } from "@item-vault/model/permission";
import { signal } from "@preact/signals";
import { asSummary } from "../failures/broken.ts";
import { isErrorKind } from "../failures/explain.ts";
import { call } from "./client.ts";
import { itemKey } from "./item-key.ts";
import { compareNames, type Entry, entryOf, type OrderName, ORDERS, replaceEntry } from "./search.ts";
import { session, vaultsFor } from "./session.ts";

/** The vaults of the session and the summaries of their Items: no value of a field is among them. */

export const vaults = signal<readonly Vault[]>([]);
export const entries = signal<readonly Entry[]>([]);
/** `loading` only until the first list is there: a later one replaces it when it has arrived. */
export const listState = signal<"loading" | "loaded" | "failed">("loading");
export const listError = signal<unknown>(undefined);

export const orderName = signal<OrderName>("title");

export function sortBy(name: OrderName): void {
  orderName.value = name;
  entries.value = entries.value.toSorted(ORDERS[name].compare);
}

/** The ids of the vaults that the session lists: known before any request, so the lists of all vaults are one round trip. */
const listed = (): string[] => vaultsWith("l", session.value?.token ?? { vaults: {} });

export const may = (vault: string, permission: Permission): boolean =>
  covers(permissionIn(session.value?.token?.vaults[vault]), permission);

/** Returns true if the session may create Items in a vault. With write permission for some Items only, it may not. */
export const mayCreate = (vault: string): boolean =>
  may(vault, "w") && itemsIn(session.value?.token?.vaults[vault]) === undefined;

export const creatableVaults = (): readonly Vault[] => vaults.value.filter(({ id }) => mayCreate(id));

/** The vaults to which Items may be moved, copied or imported: they are read there to compare them. */
export const transferTargets = (): readonly Vault[] => vaults.value.filter(({ id }) => vaultsFor("import").includes(id));

export const listsAny = (): boolean => listed().length > 0;

export const vaultName = (id: string): string => vaults.value.find((vault) => vault.id === id)?.name ?? "";

/** Loads the vaults and the lists of their Items, all at the same time. */
export async function loadItems(): Promise<void> {
  try {
    const [loaded, ...lists] = await Promise.all([call("GET /v1/vaults"), ...listed().map((vault) => loadList(vault))]);
    setVaults(loaded.data);
    setItems(lists.flat());
    listState.value = "loaded";
  } catch (error) {
    listError.value = error;
    listState.value = "failed";
  }
}

/** The number of the last write of each vault (contract 15.1) when its list was loaded. */
const loadedWrites = new Map<string, number>();

/** After a restore of the database, the same numbers belong to other writes, so all lists are loaded again. */
export const forgetShown = (): void => loadedWrites.clear();

const lastWriteOf = ({ attributeVersion, contentVersion }: Vault): number => attributeVersion + contentVersion;

/**
 * Loads Items of a vault that others have written. An Item that this page deletes during the load stays out of the list. After `ended`,
 * nothing changes. Throws an ItemVaultError, or the reason of `ended`.
 */
export async function loadWritten(vault: string, ids: readonly string[], ended: AbortSignal): Promise<void> {
  const listedBefore = new Set(ids.filter((id) => listedEntry(vault, id)));
  const loaded = await loadList(vault, ids.map((id) => `id eq "${id}"`).join(" or "));
  ended.throwIfAborted();
  for (const item of loaded) if (!listedBefore.has(item.id) || listedEntry(vault, item.id)) putItem(item);
  const present = new Set(loaded.map(({ id }) => id));
  for (const id of ids) if (!present.has(id)) dropItem(vault, id);
}

/**
 * Loads the lists of the vaults with a write since they were loaded. After `ended`, nothing changes. Returns `false`, without changes, if the
 * list has changed during the load: the answers may be older. Throws an ItemVaultError, or the reason of `ended`.
 */
export async function loadChanged(ended: AbortSignal): Promise<boolean> {
  const before = entries.peek();
  const { data } = await call("GET /v1/vaults");
  const kept = new Set(data.filter((vault) => loadedWrites.get(vault.id) === lastWriteOf(vault)).map(({ id }) => id));
  const lists = await Promise.all(data.filter(({ id }) => !kept.has(id)).map(({ id }) => loadList(id)));
  ended.throwIfAborted();
  if (entries.peek() !== before) return false;
  const others = before.flatMap(({ item }) => (kept.has(item.vault.id) ? [item] : []));
  setVaults(data);
  setItems([...others, ...lists.flat()]);
  return true;
}

function setVaults(loaded: readonly Vault[]): void {
  forgetShown();
  for (const vault of loaded) loadedWrites.set(vault.id, lastWriteOf(vault));
  vaults.value = loaded.toSorted((a, b) => compareNames(a.name, b.name));
}

/** A vault that was deleted since the session began has no list. */
async function loadList(vault: string, filter?: string): Promise<ItemSummary[]> {
  try {
    const options = { path: { vault }, query: { archived: true, include: "username", ...(filter && { filter }) } } as const;
    return (await call("GET /v1/vaults/{vault}/items", options)).data.map(asSummary);
  } catch (error) {
    if (isErrorKind(error, "vault_not_found")) return [];
    throw error;
  }
}

function setItems(items: readonly ItemSummary[]): void {
  const loaded = items.map(entryOf);
  entriesByKey.clear();
  for (const entry of loaded) entriesByKey.set(entry.key, entry);
  entries.value = loaded.toSorted(ORDERS[orderName.value].compare);
}

/** Indexes `entries`, which are too many to be searched for each write. */
const entriesByKey = new Map<string, Entry>();

export const listedEntry = (vault: string, id: string): Entry | undefined => entriesByKey.get(itemKey(vault, id));

function replace(before: Entry | undefined, after: Entry | undefined): void {
  if (before) entriesByKey.delete(before.key);
  if (after) entriesByKey.set(after.key, after);
  entries.value = replaceEntry(entries.value, before, after, ORDERS[orderName.value].compare);
}

/** Returns the list's data of an Item: no value of a field but the user name, as in `include=username` (contract 11.8). */
function summaryOf(item: Item): ItemSummary {
  const { sections: _sections, fields, files: _files, ...summary } = item;
  const username = fields.find(({ purpose }) => purpose === "USERNAME")?.value;
  return username ? { ...summary, username } : summary;
}

/** Puts an Item that was written into the list, in place of its older version. The list keeps a newer one, which somebody else has written. */
export function putItem(item: Item | ItemSummary): void {
  const before = listedEntry(item.vault.id, item.id);
  if (!before || before.item.version <= item.version) replace(before, entryOf("fields" in item ? summaryOf(item) : item));
}

export const dropItem = (vault: string, id: string): void => replace(listedEntry(vault, id), undefined);
