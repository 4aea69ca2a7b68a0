import type { TransferItem } from "./item.ts";

/** A name that several vaults of a source have. */
export interface SharedName {
  /** As one of the vaults writes it; "" for vaults without a name. */
  readonly name: string;
  /** How many vaults have it. */
  readonly count: number;
}

/**
 * The names, compared without regard to case, that several vaults of the source have. An import finds its target by the name, also
 * when it runs again, so the Items of these vaults would be in one vault. Vaults without an id are told apart by their names alone.
 */
export function sharedNames(items: readonly Pick<TransferItem, "vault" | "vaultId">[]): SharedName[] {
  const found = new Map<string, { readonly name: string; readonly ids: Set<string> }>();
  for (const { vault: name = "", vaultId = name } of items) {
    const { ids } = found.get(name.toLowerCase()) ?? { ids: new Set<string>() };
    found.set(name.toLowerCase(), { name, ids: ids.add(vaultId) });
  }
  return [...found.values()].flatMap(({ name, ids }) => (ids.size > 1 ? [{ name, count: ids.size }] : []));
}
