import type { Checked } from "../../model/finding.ts";
import type { Result } from "../../model/result.ts";
import type { Fault } from "../checks/fault.ts";
import type { Store } from "../d1/database.ts";
import type { Bucket, ObjectPage } from "../buckets/bucket.ts";

/** A stage of `verify` checks one kind of stored data in slices. stages.ts lists the stages. */

/** The requests of the stages to the coordinator of a vault, which records the contents that may have no row (contents/pending.ts). */
export interface Coordinators {
  /** Out: the keys that are recorded, those of begun uploads and of released contents. */
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
  /** Whether the stage only checks that contents exist, and does not read them. */
  readonly quick: boolean;
  /** The vault whose counts a repair lowers to those of its rows. Empty: the counts of what belongs to no vault. Undefined: none. */
  readonly acceptsLossOf: string | undefined;
  /** Whether the job repairs: the repairs of a slice are calls too. */
  readonly repair: boolean;
  /** The number of calls of D1 and R2 that the step has made. */
  readonly calls: () => number;
  /** After about so many the step begins nothing further (jobs/kind.ts). */
  readonly callsMax: number;
}

/** The position at which a slice begins: plain data, which the job keeps between its steps. */
export interface Position {
  readonly stage: string;
  /** Empty for stages that belong to no vault. */
  readonly vault: string;
  /** The parts of the key at which the slice begins; empty at the beginning. */
  readonly after: readonly (string | number)[];
}

/**
 * The first key after a key. A slice includes the key at which it begins, so that the first slice includes a damaged row with an empty
 * key.
 */
export const keyAfter = (key: string): string => `${key}\0`;

export interface Slice {
  readonly faults: readonly Fault[];
  readonly checked: Partial<Checked>;
  /** The position at which the next slice of the stage begins; absent when the stage is done. */
  readonly after?: Position["after"] | undefined;
  /** Whether nothing else can be checked. */
  readonly isLast?: boolean;
}

/** In: `position.vault` and `position.after`. Errors: `unavailable`, `misconfigured`. */
export type Stage = (ports: VerifyPorts, position: Position) => Promise<Result<Slice>>;

export const DONE: Slice = { faults: [], checked: {} };

/** About the most bytes of contents that a step reads, so that it ends in time: 32 MiB with 24 calls. */
export const stepBytesMax = ({ callsMax }: Pick<VerifyPorts, "callsMax">): number => Math.ceil((callsMax * 4 * 1024 * 1024) / 3);

/**
 * Whether a step that has read so many bytes begins another slice. A slice makes at most 20 calls, unless it reads contents: then it looks after
 * each of them whether the step has made enough (`isSpent`). So a step makes at most 16 calls more than `callsMax` (jobs/kind.ts).
 */
export const beginsSlice = (ports: VerifyPorts, bytes: number): boolean =>
  ports.calls() < Math.max(1, ports.callsMax - 4) && bytes < stepBytesMax(ports);

/** Whether a slice that has read a content ends: the next one makes at most 8 calls, and its repair 2. */
export const isSpent = ({ calls, callsMax, repair }: VerifyPorts): boolean => calls() >= (repair ? callsMax - 8 : callsMax + 6);

/** The position at which the slice after a page of the bucket begins. */
export const afterOf = ({ next }: ObjectPage): Slice["after"] => (next === undefined ? undefined : [next]);
