import type { TransferItem } from "./item.ts";

/** A name that several vaults of a source have. */
export interface SharedName {
  /** The name as one of the vaults has it; "" for vaults without a name. */
  readonly name: string;
  /** Number of vaults with the name. */
  readonly count: number;
}

/**
 * The names, compared without regard to case, that several vaults of the source have. An import finds its target by the name, also when it
 * runs again, so the Items of these vaults would be in one vault. An Item without the id of its vault belongs to a vault with exactly its
 * name.
 */
export function sharedNames(items: readonly Pick<TransferItem, "vault" | "vaultId">[]): SharedName[] {
  const itemsByName = Map.groupBy(items, ({ vault = "" }) => vault);
  const countsByName = [...itemsByName].map(([name, inside]) => {
    const ids = new Set(inside.flatMap(({ vaultId }) => vaultId ?? []));
    return { name, count: Math.max(ids.size, 1) };
  });
  return [...Map.groupBy(countsByName, ({ name }) => name.toLowerCase()).values()].flatMap((same) => {
    const count = same.reduce((sum, one) => sum + one.count, 0);
    return count > 1 ? [{ name: same[0]!.name, count }] : [];
  });
}
