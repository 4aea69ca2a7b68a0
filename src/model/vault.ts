import { LIMITS } from "./limits.ts";
import { fail, type Refusal } from "./result.ts";

/** A Vault: a set of Items, and the unit of a token's permissions. */
export interface Vault {
  readonly id: string;
  /** `undefined`: the text cannot be decrypted. Only requests that show it or need it fail. */
  readonly name: string | undefined;
  readonly description: string | undefined;
  /** +1 for each change of name, description or quota, and when it gets a new key. */
  readonly attributeVersion: number;
  /** +1 for each write to an Item. */
  readonly contentVersion: number;
  /** The Items that exist, and all that were ever created. */
  readonly items: number;
  readonly created: number;
  /** The deleted Items that are kept, and how many deleted Items were ever restored. */
  readonly deleted: number;
  readonly restored: number;
  /** The writes that destroyed versions or deleted Items. */
  readonly destroyed: number;
  /** The Files of the Items that exist. */
  readonly files: number;
  /** Bytes of all contents, including those only in earlier versions and deleted Items. */
  readonly fileBytes: number;
  /** Bytes of the sealed texts of its Items, their versions and Files. */
  readonly sealedBytes: number;
  readonly quota: OwnQuota;
  /** Unix milliseconds. */
  readonly createdAt: number;
  readonly updatedAt: number;
  /** The id of its newest data key: a UUIDv7. */
  readonly dataKeyId: string;
  /** The number of that key, from 1 to 255. */
  readonly keyNumber: number;
  /** The number of earlier data keys in its list. Some of its texts may be sealed under them. */
  readonly earlierKeys: number;
}

/** A vault whose texts are both known. */
export type NamedVault = Vault & { readonly name: string; readonly description: string };

export const isNamed = (vault: Vault): vault is NamedVault => vault.name !== undefined && vault.description !== undefined;

/** The limits of a vault's contents (contract 12.6). */
interface Quota {
  readonly items: number;
  /** Bytes of the sealed texts of its Items and Files. */
  readonly bytes: number;
  /** Bytes of the contents of its Files, before sealing. */
  readonly fileBytes: number;
}

/** The quotas that the admin has set; `null` is the default. */
type OwnQuota = { readonly [K in keyof Quota]: number | null };

type WriteCounts = Pick<Vault, "items" | "created" | "restored" | "destroyed" | "contentVersion">;

/**
 * Returns the numbers of writes to a vault's Items since its creation, by action. Each write has incremented the content version. A
 * creation and the restoration of a deleted Item have incremented `items`; a deletion has decremented it.
 */
export function writesOf({ items, created, restored, destroyed, contentVersion }: WriteCounts) {
  const deleted = Math.max(0, created + restored - items);
  const updated = Math.max(0, contentVersion - created - restored - deleted - destroyed); // a lost Item has no write that deleted it
  return { CREATE: created, UPDATE: updated, DELETE: deleted, RESTORE: restored, DESTROY: destroyed };
}

const COUNTS = ["items", "created", "deleted", "restored", "destroyed", "files", "fileBytes", "sealedBytes"] as const;

/** The change that a write makes to the counts of its vault. */
export type CountChange = Partial<Record<(typeof COUNTS)[number], number>>;

/**
 * Returns the vault after a write to an Item. `now` is in Unix milliseconds. No count goes below 0: a damaged count may be smaller than the
 * amount that a deletion subtracts.
 */
export function countWrite(vault: Vault, now: number, change: CountChange): Vault {
  const grown = COUNTS.map((name) => [name, Math.max(vault[name] + (change[name] ?? 0), 0)]);
  const counts = Object.fromEntries(grown) as Record<(typeof COUNTS)[number], number>;
  return { ...vault, ...counts, contentVersion: vault.contentVersion + 1, updatedAt: Math.max(now, vault.updatedAt) };
}

/** Quotas (contract 12.6): limits of one vault's contents. */

/** A change of quotas: an absent one stays, `null` makes it the default again. */
export type QuotaChange = { readonly [K in keyof Quota]?: number | null | undefined };

export const DEFAULT_QUOTA: OwnQuota = { items: null, bytes: null, fileBytes: null };

/** For each quota: the usage of a vault, the default, and the unit in the message. */
const QUOTAS: { readonly [K in keyof Quota]: readonly [usage: (vault: Vault) => number, standard: number, unit: string] } = {
  items: [({ items, deleted }) => items + deleted, LIMITS.vaultItems, "Items"],
  bytes: [({ sealedBytes }) => sealedBytes, LIMITS.vaultBytes, "bytes of Items"],
  fileBytes: [({ fileBytes }) => fileBytes, LIMITS.vaultFileBytes, "bytes of Files"],
};

const QUOTA_NAMES = Object.keys(QUOTAS) as (keyof Quota)[];

export const quotaOf = ({ quota }: Vault): Quota =>
  Object.fromEntries(QUOTA_NAMES.map((name) => [name, quota[name] ?? QUOTAS[name][1]])) as unknown as Quota;

/** Returns a vault's usage of each quota. */
export const usageOf = (vault: Vault): Quota =>
  Object.fromEntries(QUOTA_NAMES.map((name) => [name, QUOTAS[name][0](vault)])) as unknown as Quota;

export const changeQuota = (before: OwnQuota, change: QuotaChange): OwnQuota =>
  Object.fromEntries(
    QUOTA_NAMES.map((name) => [name, change[name] === undefined ? before[name] : change[name]]),
  ) as unknown as OwnQuota;

/** Refuses a write that raises a usage above its quota. Returns the refusal `quota`, or undefined. */
export function checkQuota(before: Vault, after: Vault): Refusal | undefined {
  const [was, is, quota] = [usageOf(before), usageOf(after), quotaOf(after)];
  const exceeded = QUOTA_NAMES.find((name) => is[name] > was[name] && is[name] > quota[name]);
  return exceeded && fail("quota", `${quota[exceeded]} ${QUOTAS[exceeded][2]}`);
}
