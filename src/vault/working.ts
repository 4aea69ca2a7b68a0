import type { Action } from "../model/activity.ts";
import type { SpecialEvent } from "../model/event.ts";
import type { ContentPlace } from "../model/file.ts";
import type { Item } from "../model/item.ts";
import type { Answer } from "../model/operation.ts";
import type { Result } from "../model/result.ts";
import type { Vault } from "../model/vault.ts";
import type { IdempotencyRecord } from "../store/write/idempotency.ts";
import type { FileChange } from "../store/write/row-changes.ts";
import type { Snapshot, StoredBytes } from "../store/write/snapshot.ts";
import type { Random } from "./complete.ts";
import type { Growth } from "./growth.ts";

/** The working copy of a vault: a snapshot that the operations of a group read and change, one after the other. */
export interface WorkingVault {
  vault: Vault | undefined;
  /** The vault at the moment of its deletion. */
  deleted: Vault | undefined;
  /** Whether the vault exists or existed before the group. */
  readonly everExisted: boolean;
  readonly items: Map<string, Result<Item>>;
  readonly records: Map<string, Result<IdempotencyRecord>>;
  /** The rows of the Files of each Item, also of an Item that does not open. */
  readonly filesOf: Snapshot["filesOf"];
  readonly files: FileChange[];
  /** The bytes of the sealed texts of each Item. */
  readonly stored: Map<string, StoredBytes>;
  /** By how many bytes the sealed texts of the vault have grown. It is known also when their sum is not. */
  sealedGrowth: number;
  /** Contents that no row references after the group. */
  readonly released: ContentPlace[];
}

export function copySnapshot({ opened, broken, everExisted, items, records, filesOf, stored }: Snapshot): WorkingVault {
  return {
    vault: opened?.vault ?? broken?.vault,
    deleted: undefined,
    everExisted,
    items: new Map(items),
    records: new Map(records),
    filesOf,
    files: [],
    stored: new Map(stored),
    sealedGrowth: 0,
    released: [],
  };
}

/** What an operation needs besides the working copy. */
export interface ChangeContext {
  readonly vault: string;
  readonly actor: string;
  /** Unix milliseconds. */
  readonly now: number;
  readonly random: Random;
  readonly growth: Growth;
}

/** The effect of an operation. */
export interface ChangeResult {
  readonly answer: Answer;
  /** Absent when nothing changed. */
  readonly action?: Action;
  readonly item?: string;
  readonly version?: number;
  /** What the change did, where the action does not tell it. */
  readonly event?: SpecialEvent;
}
