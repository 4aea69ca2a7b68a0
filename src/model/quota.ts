import { LIMITS } from "./limits.ts";
import { fail, type Refusal } from "./result.ts";
import type { OwnQuota, Quota, Vault } from "./vault.ts";

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
