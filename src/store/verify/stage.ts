import type { Checked } from "../../model/finding.ts";
import type { Result } from "../../model/result.ts";
import type { Fault } from "../checks/fault.ts";
import type { Store } from "../d1/database.ts";
import type { Bucket, ObjectPage } from "../buckets/bucket.ts";

/** A stage of `verify` looks at one kind of stored data in slices. stages.ts lists the stages. */

/** What the stages ask the coordinator of a vault, which records the contents that may have no row (contents/pending.ts). */
export interface Coordinators {
  /** Out: those of the keys that are recorded: uploads that have begun, and released contents. */
  pending(vault: string, keys: readonly string[]): Promise<Result<readonly string[]>>;
  /** Records contents without rows as released. The sweep deletes them after the retention, if they have no row then. */
  release(vault: string, keys: readonly string[]): Promise<Result<unknown>>;
  /** Counts the rows of the vault again, between two commits. */
  recount(vault: string): Promise<Result<unknown>>;
}

export interface VerifyPorts {
  readonly store: Store;
  readonly files: Bucket;
  readonly backups: Bucket;
  readonly coordinators: Coordinators;
  /** Whether contents are only looked for, and not read. */
  readonly quick: boolean;
  /** Whether a repair takes Items that are missing out of the counts of their vault. */
  readonly acceptLoss: boolean;
}

/** Where a slice begins. Plain data, which the caller gets as an opaque text. */
export interface Position {
  readonly stage: string;
  /** Empty for stages that belong to no vault. */
  readonly vault: string;
  /** Where the slice begins, in parts; empty at the beginning. */
  readonly after: readonly (string | number)[];
}

/** The first key after this one: a slice includes the key at which it begins, so that the first one has a damaged row without a key. */
export const keyAfter = (key: string): string => `${key}\0`;

export interface Slice {
  readonly faults: readonly Fault[];
  readonly checked: Partial<Checked>;
  /** The calls of D1, R2 and coordinators, about: they bound how many slices one request does. */
  readonly calls: number;
  /** Where the next slice of the stage begins; absent when the stage is done. */
  readonly after?: Position["after"] | undefined;
}

/** In: `position.vault` and `position.after`. Errors: `unavailable`, `misconfigured`. */
export type Stage = (ports: VerifyPorts, position: Position) => Promise<Result<Slice>>;

export const DONE: Slice = { faults: [], checked: {}, calls: 1 };

/** About the most D1 calls of a request, of which the free plan allows 50, and about the most bytes that it reads, so that it ends in time. */
export const REQUEST_MAX = { calls: 30, bytes: 32 * 1024 * 1024 };

/** Where the slice after a page of the bucket begins. */
export const afterOf = ({ next }: ObjectPage): Slice["after"] => (next === undefined ? undefined : [next]);
