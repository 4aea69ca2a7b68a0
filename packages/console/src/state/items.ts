import { signal } from "@preact/signals";
import { covers } from "@item-vault/model/permission";
import { itemsIn, permissionIn, vaultsWith } from "@item-vault/model/permission";
import type { ItemSummary, Permission, Vault } from "@item-vault/client";
import { asSummary } from "../failures/broken.ts";
import { call } from "./client.ts";
import { isErrorKind } from "../failures/error-kind.ts";
import { itemKey } from "./item-key.ts";
import { type Entry, entryOf, type OrderName, ORDERS, replaceEntry } from "./search.ts";
import { session } from "./session.ts";
import { compareNames } from "./search.ts";

/** The vaults of the session and the summaries of their Items: no value of a field is among them. */

export const vaults = signal<readonly Vault[]>([]);
export const entries = signal<readonly Entry[]>([]);
/** `loading` only until the first list is there: a later one replaces it when it has arrived. */
export const listState = signal<"loading" | "loaded" | "failed">("loading");
export const listError = signal<unknown>(undefined);

/** The order of `entries`. */
export const orderName = signal<OrderName>("title");

export function sortBy(name: OrderName): void {
  orderName.value = name;
  entries.value = entries.value.toSorted(ORDERS[name].compare);
}

/** The ids of the vaults that the session lists: known before any request, so the lists of all vaults are one round trip. */
const listed = (): string[] => vaultsWith("l", session.value?.token ?? { vaults: {} });

/** Returns true if the session has a permission in a vault. */
export const may = (vault: string, permission: Permission): boolean =>
  covers(permissionIn(session.value?.token?.vaults[vault]), permission);

/** Returns true if the session may create Items in a vault. With write permission for some Items only, it may not. */
export const mayCreate = (vault: string): boolean =>
  may(vault, "w") && itemsIn(session.value?.token?.vaults[vault]) === undefined;

/** The vaults in which the session may make Items. */
export const creatableVaults = (): readonly Vault[] => vaults.value.filter(({ id }) => mayCreate(id));

/** The vaults to which Items may be moved, copied or imported: they are read there to compare them. */
export const transferTargets = (): readonly Vault[] => creatableVaults().filter(({ id }) => may(id, "r"));

/** Returns true if the session lists any vault. */
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

/** The number of writes of this page that the list shows. */
let ownWrites = 0;

/** The writes of a vault that the list shows: all up to a number (contract 15.1), and some later ones. */
interface ShownWrites {
  upTo: number;
  readonly later: Set<number>;
}

const shownWrites = new Map<string, ShownWrites>();

/** Takes down that the list shows a write. Another one before it may be missing still. */
export function noteShown(vault: string, sequence: number): void {
  const shown = shownWrites.get(vault);
  if (!shown || sequence <= shown.upTo) return;
  shown.later.add(sequence);
  while (shown.later.delete(shown.upTo + 1)) shown.upTo++;
}

/** After the database was restored: the same numbers are of other writes, so all lists are loaded again. */
export const forgetShown = (): void => shownWrites.clear();

/**
 * Loads the Items of a vault that others have written, without its whole list. `ids` has at most 100 ids. After `ended`, nothing changes.
 * Returns `false`, without dropping anything, if this page has written during the load: the answer may be older than the list. Throws an
 * ItemVaultError, or the reason of `ended`.
 */
export async function loadWritten(vault: string, ids: readonly string[], ended: AbortSignal): Promise<boolean> {
  const before = ownWrites;
  const loaded = await loadList(vault, ids.map((id) => `id eq "${id}"`).join(" or "));
  ended.throwIfAborted();
  if (ownWrites !== before) return false;
  const present = new Set(loaded.map(({ id }) => id));
  loaded.forEach(putItem);
  for (const id of ids) if (!present.has(id)) dropItem(vault, id);
  ownWrites = before;
  return true;
}

/**
 * Loads the lists of the vaults that others have written to since the last load. After `ended`, nothing changes. Returns `false`, without
 * changes, if this page has written during the load: the answers may be older than the list. Throws an ItemVaultError, or the reason of
 * `ended`.
 */
export async function loadChanged(ended: AbortSignal): Promise<boolean> {
  const before = ownWrites;
  const { data } = await call("GET /v1/vaults");
  const changed = new Set(data.filter((vault) => shownWrites.get(vault.id)?.upTo !== sequenceOf(vault)).map(({ id }) => id));
  const lists = await Promise.all(Array.from(changed, (vault) => loadList(vault)));
  ended.throwIfAborted();
  if (ownWrites !== before) return false;
  const present = new Set(data.map(({ id }) => id));
  const others = entries.value.flatMap(({ item }) => (present.has(item.vault.id) && !changed.has(item.vault.id) ? [item] : []));
  setVaults(data);
  setItems([...others, ...lists.flat()]);
  return true;
}

/** The number of the vault's last write (contract 15.1). */
const sequenceOf = ({ attributeVersion, contentVersion }: Vault): number => attributeVersion + contentVersion;

/** Sets the vaults, before their lists are loaded. */
function setVaults(loaded: readonly Vault[]): void {
  shownWrites.clear();
  for (const vault of loaded) shownWrites.set(vault.id, { upTo: sequenceOf(vault), later: new Set() });
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

/** Returns the list's entry of an Item. */
export const listedEntry = (vault: string, id: string): Entry | undefined => entriesByKey.get(itemKey(vault, id));

function replace(before: Entry | undefined, after: Entry | undefined): void {
  ownWrites++;
  if (before) entriesByKey.delete(before.key);
  if (after) entriesByKey.set(after.key, after);
  entries.value = replaceEntry(entries.value, before, after, ORDERS[orderName.value].compare);
}

/** Puts an Item that was written into the list, in place of its older version. The list keeps a newer one, which somebody else has written. */
export function putItem(item: ItemSummary): void {
  const before = listedEntry(item.vault.id, item.id);
  if (!before || before.item.version <= item.version) replace(before, entryOf(item));
}

export const dropItem = (vault: string, id: string): void => replace(listedEntry(vault, id), undefined);
