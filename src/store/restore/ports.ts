import type { Activity } from "../../model/activity.ts";
import type { ContentPlace } from "../../model/file.ts";
import type { Result } from "../../model/result.ts";
import type { Store } from "../d1/database.ts";
import type { Bucket } from "../buckets/bucket.ts";

/** What a restore works with, and how much one request may do. */

/** Contents that get rows, and contents whose rows are about to be deleted. */
export interface RestoreContents {
  readonly expected: readonly ContentPlace[];
  readonly released: readonly ContentPlace[];
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

/** What a request may still do. */
export interface Budget {
  /** Counts calls. */
  readonly spend: (d1: number, r2: number) => void;
  readonly isSpent: () => boolean;
}

/** On the free plan an invocation makes at most 50 calls of D1. A call of R2 is cheaper; contents take time. */
const MOST = { d1: 36, r2: 200, milliseconds: 5_000 };

export function newBudget(clock: () => number): Budget {
  const used = { d1: 0, r2: 0 };
  const until = clock() + MOST.milliseconds;
  return {
    spend(d1, r2) {
      used.d1 += d1;
      used.r2 += r2;
    },
    isSpent: () => used.d1 >= MOST.d1 || used.r2 >= MOST.r2 || clock() >= until,
  };
}

export const NO_CONTENTS: RestoreContents = { expected: [], released: [] };
