import type { SealedOrigin } from "./activity.ts";

/** Restores from backups (contract 21.20): what a job of restore is asked for, its phases, and what it tells. */

/** What a job of restore has to know. */
export interface RestoreInput {
  /** Only this vault; absent: what belongs to no vault, and then every vault of that backup. */
  readonly vault?: string | undefined;
  /** Only this Item of the vault. */
  readonly item?: string | undefined;
  /** The number of the backup; absent: the one that a restore has begun with, else the newest. */
  readonly snapshot?: number | undefined;
  /** Whether something newer than the backup may be replaced. */
  readonly overwrite: boolean;
  /** Nothing changes: everything is opened that the restore would open. */
  readonly dryRun: boolean;
  /** The id of the entry in the log of each vault, which no other request has, and where the request came from. */
  readonly entry: string;
  readonly origin: SealedOrigin;
}

/** What is restored: one vault, or with `REGISTRY` what belongs to no vault. */
export interface RestoreRequest extends Pick<RestoreInput, "snapshot" | "overwrite"> {
  readonly vault: string;
}

/** What the database has of the vault: nothing, its deletion, or a vault that is newer than the backup or is not. */
export const EXISTING = ["none", "deleted", "older", "newer"] as const;

export type Existing = (typeof EXISTING)[number];

/** A newer backup of the registry that is not restored. */
export interface Skipped {
  readonly snapshot: number;
  readonly reason: string;
}

/** What a job of restore has restored until now; with `dryRun`, what it would restore. */
export interface RestoreResult {
  /** The number of the backup, when it was made in Unix milliseconds, and its deployment; absent before it is chosen. */
  readonly snapshot?: number | undefined;
  readonly takenAt?: number | undefined;
  readonly deployment?: string | undefined;
  /** Newer backups that were not chosen: only of everything. */
  readonly skipped?: readonly Skipped[] | undefined;
  /** What the database had before: only of one vault or Item. */
  readonly existing?: Existing | undefined;
  /** Whether the database has room for the rows of the vault, or for what belongs to no vault: only with `dryRun`. */
  readonly room?: boolean | undefined;
  /** The vaults that were restored, and their Items; 1 Item, when one was. */
  readonly vaults: number;
  readonly items: number;
  /** The vaults that are there and stay as they are, and those that were left out: only of everything. */
  readonly kept: number;
  readonly leftOut: number;
}

/**
 * The phases of a restore, in order. `contents`: parts and contents are checked, and contents copied; `clear`: the rows of the vault are
 * deleted; `bucket`: contents that the bucket lacks again are copied; `finish`: the vault is there again; `end`: nothing can undo that any
 * more. A step that was begun in one phase ends in it, so that the job says what the next step changes before that begins.
 */
export const PHASES = ["contents", "clear", "rows", "bucket", "finish", "end", "done"] as const;

/** Where a restore is: a phase, the index of a part, and the index of a File or of a group of rows in that part. */
export interface Position {
  readonly phase: (typeof PHASES)[number];
  readonly part: number;
  readonly index: number;
  /** How many rows of the parts before were left out. */
  readonly rowsLeftOut: number;
}

export const START: Position = { phase: "contents", part: 0, index: 0, rowsLeftOut: 0 };

/** The beginning of a phase. */
export const beginPhase = (phase: Position["phase"], rowsLeftOut = 0): Position => ({ phase, part: 0, index: 0, rowsLeftOut });

/** How many steps are done of `stepsOf`: each part is a step of three phases, and `clear` is one more. In: the number of parts. */
export const stepsDone = ({ phase, part }: Position, parts: number): number =>
  ({
    contents: part,
    clear: parts,
    rows: parts + 1 + part,
    bucket: 2 * parts + 1 + part,
    finish: stepsOf(parts),
    end: stepsOf(parts),
    done: stepsOf(parts),
  })[phase];

export const stepsOf = (parts: number): number => 3 * parts + 1;
