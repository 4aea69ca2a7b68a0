/** A Vault: a set of Items, and the unit of a token's permissions. */
export interface Vault {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  /** +1 for each change of name or description. */
  readonly attributeVersion: number;
  /** +1 for each write to an Item. */
  readonly contentVersion: number;
  /** The Items that exist, and all that were ever created. */
  readonly items: number;
  readonly created: number;
  /** The Files that exist, and the bytes of their contents. */
  readonly files: number;
  readonly fileBytes: number;
  /** Bytes of the sealed texts of its Items and Files; `null`: not counted yet, because release 0.1.0 created the vault. */
  readonly sealedBytes: number | null;
  readonly quota: OwnQuota;
  /** Unix milliseconds. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** What a vault may hold (contract 12.6). */
export interface Quota {
  /** Items. */
  readonly items: number;
  /** Bytes of the sealed texts of its Items and Files. */
  readonly bytes: number;
  /** Bytes of the contents of its Files, before sealing. */
  readonly fileBytes: number;
}

/** The quotas that the admin has set; `null` is the default. */
export type OwnQuota = { readonly [K in keyof Quota]: number | null };

/**
 * The writes to the Items of a vault since its creation, by action. Each write has incremented the content version; a
 * creation has incremented `items`, a deletion has decremented it.
 */
export function writesOf({ items, created, contentVersion }: Pick<Vault, "items" | "created" | "contentVersion">) {
  const deleted = created - items;
  return { CREATE: created, UPDATE: contentVersion - created - deleted, DELETE: deleted };
}

/** The part of an Item that its vault counts. */
interface Counted {
  readonly files: readonly { readonly size: number }[];
}

/**
 * The vault after a write to an Item. In: Unix milliseconds; the Item before and after, absent where it did or does not exist;
 * by how many bytes its sealed texts grow.
 */
export function countWrite(
  vault: Vault,
  now: number,
  before: Counted | undefined,
  after: Counted | undefined,
  growth: number,
): Vault {
  return {
    ...vault,
    contentVersion: vault.contentVersion + 1,
    items: vault.items + Number(after !== undefined) - Number(before !== undefined),
    created: vault.created + Number(before === undefined),
    files: vault.files + filesOf(after) - filesOf(before),
    fileBytes: vault.fileBytes + bytesOf(after) - bytesOf(before),
    sealedBytes: vault.sealedBytes === null ? null : vault.sealedBytes + growth,
    updatedAt: Math.max(now, vault.updatedAt),
  };
}

const filesOf = (item: Counted | undefined): number => item?.files.length ?? 0;
const bytesOf = (item: Counted | undefined): number => item?.files.reduce((sum, { size }) => sum + size, 0) ?? 0;
