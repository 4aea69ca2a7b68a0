import type { Manifest } from "../../model/backup.ts";
import type { ContentAddress } from "../../model/file.ts";
import type { Finding } from "../../model/finding.ts";
import type { Answer, Change } from "../../model/operation.ts";
import type { Position, RestoreInput } from "../../model/restore.ts";
import type { Result } from "../../model/result.ts";
import type { BackupStore } from "../backup/load.ts";
import type { WriteRows } from "../jobs/step-fence.ts";
import type { VaultRow } from "../vaults/rows.ts";
import type { VaultState } from "./mark.ts";

/** The phases of a restore are functions from a step to its result (vault.ts). */

/** The environment of one phase. */
export interface Step {
  readonly manifest: Manifest;
  readonly sha256: string;
  readonly position: Position;
  readonly compared: VaultState | undefined;
  /** The row of the vault in the backup; absent in the registry. */
  readonly row: VaultRow | undefined;
}

/** The result of a phase. */
export interface Stepped {
  readonly position: Position;
  /** The contents that are missing. */
  readonly findings?: readonly Finding[] | undefined;
}

/** `expected`: contents that get rows. `released`: contents whose rows are about to be deleted. */
export interface RestoreContents {
  readonly expected: readonly ContentAddress[];
  readonly released: readonly ContentAddress[];
}

/** The environment of a restore: the stores, the coordinators of vaults, and the request to the job. */
export interface RestorePorts {
  readonly store: BackupStore;
  readonly input: RestoreInput;
  /** Returns true if the step has made so many calls that it must start no further work. */
  readonly isSpent: () => boolean;
  /** Carries out statements behind the fence of the job (store/jobs/step-fence.ts). */
  readonly write: WriteRows;
  /** Lets the coordinator of the vault record contents and empty its cache. */
  readonly prepare: (vault: string, contents: RestoreContents) => Promise<Result<undefined>>;
  /** Sends a change to the coordinator of the vault. */
  readonly send: (vault: string, change: Change) => Promise<Result<Answer>>;
}

export const NO_CONTENTS: RestoreContents = { expected: [], released: [] };
