import type { Activity } from "../../model/activity.ts";
import type { ContentAddress } from "../../model/file.ts";
import type { Result } from "../../model/result.ts";
import type { Store } from "../d1/database.ts";
import type { Bucket } from "../buckets/bucket.ts";

/** The stores, buckets and coordinator that a restore uses. */

/** `expected`: contents that get rows. `released`: contents whose rows are about to be deleted. */
export interface RestoreContents {
  readonly expected: readonly ContentAddress[];
  readonly released: readonly ContentAddress[];
}

export interface RestorePorts {
  readonly store: Store;
  readonly backups: Bucket;
  readonly files: Bucket;
  /** Lets the coordinator of the vault record contents and empty its cache. */
  readonly prepare: (contents: RestoreContents) => Promise<Result<undefined>>;
  /** The entry in the log of the vault when it is restored. */
  readonly entry: Activity;
}

export const NO_CONTENTS: RestoreContents = { expected: [], released: [] };
