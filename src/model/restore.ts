import type { Manifest } from "./backup.ts";
import type { Finding } from "./finding.ts";

/** The restore from a backup (contract 21.20): its steps, and what a request asks for and gets. */

/** What is restored: one vault, or with `REGISTRY` what belongs to no vault. */
export interface RestoreRequest {
  readonly vault: string;
  /** The number of the backup; absent: the one that a restore has begun with, else the newest. */
  readonly snapshot?: number | undefined;
  /** Whether something newer than the backup may be replaced. */
  readonly overwrite: boolean;
  /** Nothing changes: the answer tells what would be done. */
  readonly dryRun: boolean;
  /** With `dryRun`: `next` of the answer before. */
  readonly cursor?: string | undefined;
}

/** What the database has of the vault: nothing, its deletion, or a vault that is newer than the backup or is not. */
export type Existing = "none" | "deleted" | "older" | "newer";

/** A newer backup of the registry that is not restored. */
export interface Skipped {
  readonly snapshot: number;
  readonly reason: string;
}

export type RestoreState = "planned" | "running" | "done";

/** How far a restore is. */
export interface Restoration {
  readonly manifest: Manifest;
  readonly existing: Existing;
  readonly state: RestoreState;
  /** Steps that are done, of `total`. */
  readonly done: number;
  readonly total: number;
  /** The rows and contents of this slice that do not open. */
  readonly findings: readonly Finding[];
  /** Only of the registry. */
  readonly skipped?: readonly Skipped[] | undefined;
  /** Only where nothing changes: whether the database has room for the rows; absent when the restore has begun. */
  readonly room?: boolean | undefined;
  /** Only where nothing changes: where the next slice begins; absent at the end. */
  readonly next?: string | undefined;
}

/**
 * The phases of a restore, in order. `contents`: parts and contents are checked, and contents copied; `bucket`: those that the bucket
 * lacks again are.
 */
export const PHASES = ["contents", "clear", "rows", "bucket", "done"] as const;

/** The next step of a restore: a phase, the index of a part, and the index of a File or of a group of rows in that part. */
export interface Position {
  readonly phase: (typeof PHASES)[number];
  readonly part: number;
  readonly index: number;
  /** How many rows of the parts before were left out. */
  readonly rowsLeftOut: number;
}

export const START: Position = { phase: "contents", part: 0, index: 0, rowsLeftOut: 0 };

export const formatPosition = ({ phase, part, index, rowsLeftOut }: Position): string =>
  `${phase} ${part} ${index} ${rowsLeftOut}`;

/** In: what `formatPosition` wrote. */
export function parsePosition(text: string): Position {
  const [phase = "", part, index, rowsLeftOut = 0] = text.split(" ");
  return {
    phase: PHASES.find((one) => one === phase) ?? "contents",
    part: Number(part),
    index: Number(index),
    rowsLeftOut: Number(rowsLeftOut),
  };
}

/** How many steps are done: each part is a step of three phases, and `clear` is one more. */
export const stepsDone = ({ phase, part }: Position, { parts }: Manifest): number =>
  ({
    contents: part,
    clear: parts.length,
    rows: parts.length + 1 + part,
    bucket: 2 * parts.length + 1 + part,
    done: stepsOf(parts.length),
  })[phase];

export const stepsOf = (parts: number): number => 3 * parts + 1;
