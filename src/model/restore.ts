/** Restores from backups (contract 21.20): input, phases and result of the job. */

export interface RestoreInput {
  /** Only this vault. Absent: the registry, then every vault of that backup. */
  readonly vault?: string | undefined;
  /** Only this Item of the vault. */
  readonly item?: string | undefined;
  /** The number of the backup. Absent: the newest backup, or the backup with which a restore of the vault has begun. */
  readonly snapshot?: number | undefined;
  /** True if the restore may replace data that is newer than the backup. */
  readonly overwrite: boolean;
  /** True if nothing changes. The restore then only checks parts, and looks for contents. */
  readonly dryRun: boolean;
  /** The id of the entry in the log of each vault, which no other request has. */
  readonly entry: string;
}

/** The subject of a restore: one vault, or `REGISTRY` for data outside vaults. */
export interface RestoreRequest extends Pick<RestoreInput, "snapshot" | "overwrite"> {
  readonly vault: string;
  /** The SHA-256 of the manifest, in a restore of everything: the registry names it. */
  readonly named?: string | undefined;
}

/** The state of the vault in the database: absent, deleted, not newer than the backup, or newer than the backup. */
export const EXISTING = ["none", "deleted", "older", "newer"] as const;

export type Existing = (typeof EXISTING)[number];

/** A newer backup of the registry that is not restored. */
export interface Skipped {
  readonly snapshot: number;
  readonly reason: string;
}

/** The result so far of a restore job. In a dry run, the expected result. */
export interface RestoreResult {
  /** The number of the backup, when it was made in Unix milliseconds, and its deployment; absent before it is chosen. */
  readonly snapshot?: number | undefined;
  readonly takenAt?: number | undefined;
  readonly deployment?: string | undefined;
  /** Newer backups that were not chosen: only in a restore of everything. */
  readonly skipped?: readonly Skipped[] | undefined;
  /** The state of the database before. Only for one vault or Item. */
  readonly existing?: Existing | undefined;
  /** True if the database has room for the rows of the vault or the registry. Only in a dry run. */
  readonly room?: boolean | undefined;
  /** The vaults that were restored, and their Items; 1 Item, when one was. */
  readonly vaults: number;
  readonly items: number;
  /** Counts of existing vaults left unchanged, and of vaults left out. Only for a restore of everything. */
  readonly kept: number;
  readonly leftOut: number;
}

/**
 * The phases of a restore, in order:
 * - `contents`: parts and contents are checked, and contents copied;
 * - `clear`: the rows of the vault are deleted;
 * - `bucket`: contents that the bucket lacks again are copied;
 * - `finish`: the vault exists again;
 * - `end`: nothing can undo the restore.
 *
 * A step ends in the phase in which it began, so the job reports the next step's changes before that step begins.
 */
export const PHASES = ["contents", "clear", "rows", "bucket", "finish", "end", "done"] as const;

/** The position of a restore: a phase, the index of a part, and the index of a File or group of rows in that part. */
export interface Position {
  readonly phase: (typeof PHASES)[number];
  readonly part: number;
  readonly index: number;
  /** Number of rows left out of the earlier parts. */
  readonly rowsLeftOut: number;
}

export const START: Position = { phase: "contents", part: 0, index: 0, rowsLeftOut: 0 };

/** Returns the position at the beginning of a phase. */
export const beginPhase = (phase: Position["phase"], rowsLeftOut = 0): Position => ({ phase, part: 0, index: 0, rowsLeftOut });

/** The phases before `finish` have a step for each part. */
const PHASES_IN_STEPS = PHASES.indexOf("finish");

/** Returns the completed steps of `stepsOf`, for a number of parts. */
export const stepsDone = ({ phase, part }: Position, parts: number): number =>
  Math.min(PHASES.indexOf(phase), PHASES_IN_STEPS) * parts + part;

export const stepsOf = (parts: number): number => PHASES_IN_STEPS * parts;
