import type { Action } from "../model/activity.ts";
import type { SpecialEvent } from "../model/event.ts";
import type { ContentAddress } from "../model/file.ts";
import type { Item } from "../model/item.ts";
import { LIMITS } from "../model/limits.ts";
import type { Answer } from "../model/operation.ts";
import { type Result, fail, type Refusal } from "../model/result.ts";
import type { StoredItem } from "../model/stored.ts";
import { type Vault, checkQuota } from "../model/vault.ts";
import type { Settings } from "../settings.ts";
import type { IdempotencyRecord } from "../store/commit/idempotency.ts";
import type { FileChange } from "../store/commit/item-rows.ts";
import type { Snapshot } from "../store/commit/snapshot.ts";
import type { DatabaseLevel } from "../store/d1/size.ts";
import type { Random } from "./complete.ts";

/** The working copy of a vault: a snapshot that the operations of a group read and change, one after the other. */
export interface WorkingVault extends Pick<Snapshot, "everExisted" | "filesOfBroken"> {
  vault: Vault | undefined;
  /** The vault at the moment of its deletion. */
  deleted: Vault | undefined;
  readonly items: Map<string, Result<Item>>;
  readonly records: Map<string, Result<IdempotencyRecord>>;
  /** Earlier versions, by `versionKey`: from the snapshot, and those that the group replaced. */
  readonly versions: Map<string, Result<Item>>;
  readonly files: FileChange[];
  /** Stored rows per Item, as they will be after this group. Includes Items that could not be decrypted. */
  readonly stored: Map<string, StoredItem>;
  /** The rows of each Item before the group. */
  readonly storedBefore: Snapshot["stored"];
  /** Contents that no row references after the group. */
  readonly released: ContentAddress[];
}

export const copySnapshot = ({ opened, broken, everExisted, filesOfBroken, ...rows }: Snapshot): WorkingVault => ({
  everExisted,
  filesOfBroken,
  vault: opened?.vault ?? broken?.vault,
  deleted: undefined,
  items: new Map(rows.items),
  records: new Map(rows.records),
  versions: new Map(rows.versions),
  files: [],
  stored: new Map(rows.stored),
  storedBefore: rows.stored,
  released: [],
});

/** The number of versions that an Item keeps, and the time for which a deleted Item can be restored. */
export type Retention = Pick<Settings, "versionsKept" | "deletedRetention">;

/** The input of an operation besides the working copy. */
export interface ChangeContext {
  readonly vault: string;
  readonly actor: string;
  /** Unix milliseconds. */
  readonly now: number;
  readonly random: Random;
  readonly growth: Growth;
  readonly retention: Retention;
}

/** The effect of an operation. */
export interface ChangeResult {
  readonly answer: Answer;
  /** Absent when nothing changed. */
  readonly action?: Action;
  readonly item?: string;
  readonly version?: number;
  /** The effect of the change, where the action does not show it. */
  readonly event?: SpecialEvent;
}

/**
 * Decides whether an operation may enlarge its vault (contract 12.6 and 12.7). `bounded`: up to the quotas. `refused`: no, because the
 * database is nearly full. `shrinking`: it must make the vault smaller. `admitted`: without a bound. An attempt to write the operation then
 * had an unknown outcome: it may still take effect, and a refusal would state the opposite.
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
 * Refuses an operation that makes its vault too large. `bytes` is the growth of its sealed texts. Returns `database_full`, `quota`, or
 * undefined.
 */
export function refuseGrowth(growth: Growth, before: Vault, after: Vault, bytes: number): Refusal | undefined {
  if (growth === "admitted") return undefined;
  if (bytes > GROWTH_BYTES_MAX[growth]) return fail("database_full");
  return checkQuota(before, after);
}
