import type { Manifest } from "./backup.ts";

/** The restore from a backup (contract 21.20): its steps, and what a request asks for and gets. */

/** What is restored: one vault, or with `REGISTRY` what belongs to no vault. */
export interface RestoreRequest {
  readonly vault: string;
  /** The number of the snapshot; absent: the one that a restore has begun with, else the newest. */
  readonly snapshot?: number | undefined;
  /** Whether something newer than the snapshot may be replaced. */
  readonly overwrite: boolean;
  /** Nothing changes: the answer tells what would be done. */
  readonly dryRun: boolean;
}

/** What the database has of the vault: nothing, its deletion, or a vault that is newer than the snapshot or is not. */
export type Existing = "none" | "deleted" | "older" | "newer";

export type RestoreState = "planned" | "running" | "done";

/** How far a restore is. */
export interface Restoration {
  readonly manifest: Manifest;
  readonly existing: Existing;
  readonly state: RestoreState;
  /** Steps that are done, of `total`. */
  readonly done: number;
  readonly total: number;
}

/** The phases of a restore, in order. `contents`: parts and contents are checked, and contents copied. */
export const PHASES = ["contents", "clear", "rows", "done"] as const;

/** The next step of a restore: a phase, the index of a part, and the index of a File or of a group of rows in that part. */
export interface Position {
  readonly phase: (typeof PHASES)[number];
  readonly part: number;
  readonly index: number;
}

export const START: Position = { phase: "contents", part: 0, index: 0 };

export const formatPosition = ({ phase, part, index }: Position): string => `${phase} ${part} ${index}`;

/** In: what `formatPosition` wrote. */
export function parsePosition(text: string): Position {
  const [phase = "", part, index] = text.split(" ");
  return { phase: PHASES.find((one) => one === phase) ?? "contents", part: Number(part), index: Number(index) };
}

/** How many steps are done: each part is a step of two phases, and `clear` is one more. */
export const stepsDone = ({ phase, part }: Position, { parts }: Manifest): number =>
  ({ contents: part, clear: parts.length, rows: parts.length + 1 + part, done: stepsOf(parts.length) })[phase];

export const stepsOf = (parts: number): number => 2 * parts + 1;
