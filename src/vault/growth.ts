import { LIMITS } from "../model/limits.ts";
import { checkQuota } from "../model/quota.ts";
import { fail, type Refusal } from "../model/result.ts";
import type { Vault } from "../model/vault.ts";
import type { DatabaseLevel } from "../store/d1/size.ts";

/**
 * Whether an operation may make its vault larger (contract 12.6 and 12.7). `bounded`: up to the quotas. `refused`: not at
 * all, because the database is nearly full. `shrinking`: it has to make it smaller. `admitted`: without a bound, because an
 * attempt to write the operation had an unknown outcome: it may still take effect, and a refusal would state that it does not.
 */
export type Growth = "bounded" | "refused" | "shrinking" | "admitted";

export const GROWTH: Readonly<Record<DatabaseLevel, Growth>> = {
  ok: "bounded",
  warning: "bounded",
  archive: "bounded",
  refuse: "refused",
  shrink: "shrinking",
};

/** The number of bytes by which the sealed texts of an operation may grow. */
const GROWTH_BYTES_MAX: Readonly<Record<Exclude<Growth, "admitted">, number>> = {
  bounded: Infinity,
  refused: LIMITS.growth,
  shrinking: -1,
};

/**
 * Refuses an operation that makes its vault too large. In: the vault before and after the operation, and by how many bytes
 * its sealed texts grow. Out: `database_full`, `quota`, or nothing.
 */
export function refuseGrowth(growth: Growth, before: Vault, after: Vault, bytes: number): Refusal | undefined {
  if (growth === "admitted") return undefined;
  if (bytes > GROWTH_BYTES_MAX[growth]) return fail("database_full");
  return checkQuota(before, after);
}
