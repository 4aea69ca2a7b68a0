import type { Action } from "../model/activity.ts";
import type { ContentPlace } from "../model/file.ts";
import type { Item } from "../model/item.ts";
import type { Answer } from "../model/operation.ts";
import type { Result } from "../model/result.ts";
import type { Vault } from "../model/vault.ts";
import type { IdempotencyRecord } from "../store/write/idempotency.ts";
import type { FileChange } from "../store/write/row-changes.ts";
import type { Snapshot } from "../store/write/snapshot.ts";
import type { Random } from "./complete.ts";

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
  /** Contents that no row references after the group. */
  readonly released: ContentPlace[];
}

export function copySnapshot({ opened, broken, everExisted, items, records, filesOf }: Snapshot): WorkingVault {
  return {
    vault: opened?.vault ?? broken?.vault,
    deleted: undefined,
    everExisted,
    items: new Map(items),
    records: new Map(records),
    filesOf,
    files: [],
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
}

/** The effect of an operation. */
export interface ChangeResult {
  readonly answer: Answer;
  /** Absent when nothing changed. */
  readonly action?: Action;
  readonly item?: string;
  readonly version?: number;
}
