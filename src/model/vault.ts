/** A Vault: what holds Items, and what a token reaches. */
export interface Vault {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  /** +1 a change of name or description. */
  readonly attributeVersion: number;
  /** +1 a write to an Item. */
  readonly contentVersion: number;
  /** How many Items there are, and how many were ever created. */
  readonly items: number;
  readonly created: number;
  /** How many Files there are, and the bytes of their contents. */
  readonly files: number;
  readonly fileBytes: number;
  /** Unix milliseconds. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** Writes to the Items of a vault since it was made, by action. Each moved the content version, and `items` by what it made or unmade. */
export function writesOf({ items, created, contentVersion }: Pick<Vault, "items" | "created" | "contentVersion">) {
  const deleted = created - items;
  return { CREATE: created, UPDATE: contentVersion - created - deleted, DELETE: deleted };
}

/** What an Item counts for in its vault. */
interface Counted {
  readonly files: readonly { readonly size: number }[];
}

/**
 * The vault after a write to an Item. In: Unix milliseconds; the Item as it was and as it is, absent where there was or is none.
 */
export function countWrite(vault: Vault, now: number, before: Counted | undefined, after: Counted | undefined): Vault {
  return {
    ...vault,
    contentVersion: vault.contentVersion + 1,
    items: vault.items + Number(after !== undefined) - Number(before !== undefined),
    created: vault.created + Number(before === undefined),
    files: vault.files + filesOf(after) - filesOf(before),
    fileBytes: vault.fileBytes + bytesOf(after) - bytesOf(before),
    updatedAt: Math.max(now, vault.updatedAt),
  };
}

const filesOf = (item: Counted | undefined): number => item?.files.length ?? 0;
const bytesOf = (item: Counted | undefined): number => item?.files.reduce((sum, { size }) => sum + size, 0) ?? 0;
