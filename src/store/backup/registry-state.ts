import type { PartRef, SnapshotRef } from "../../model/backup.ts";
import type { Finding } from "../../model/finding.ts";
import type { Place } from "./registry-tables.ts";

/** The state of a snapshot of the registry between its steps, and what a step answers. */

export interface RegistryReport {
  /**
   * `waiting`: a vault has no snapshot, or none of this run; `busy`: another driver has continued; `unrestored`: the database was never
   * used, and the bucket has the backups of one that was: they are to be restored, and nothing is written.
   */
  readonly state: "reading" | "waiting" | "pruning" | "done" | "busy" | "unrestored";
  readonly number: number;
  /** The vaults whose snapshots are found so far. */
  readonly vaults: number;
  /** Vaults without a snapshot of this run that are not waited for any more. */
  readonly behind: number;
  /** Rows of all snapshots of the backup that did not open when they were read. */
  readonly broken: number;
  /** Those of them that belong to no vault. */
  readonly findings: readonly Finding[];
  /** The vault that is waited for, and whether it has no snapshot at all. */
  readonly waiting?: { readonly vault: string; readonly missing: boolean };
}

export interface RunningRegistry {
  /** When it began: Unix milliseconds. An earlier run is not continued, because its snapshots may be older ones. */
  readonly began: number;
  readonly number: number;
  readonly predecessor: string | null;
  /** The id of the last vault whose snapshot was looked for; `null`: all were. */
  readonly after: string | null;
  readonly snapshots: readonly SnapshotRef[];
  /** The ids of the root keys that the snapshots and the rows of tokens need. */
  readonly rootKeys: readonly string[];
  readonly bytes: number;
  readonly behind: number;
  /** Rows of the snapshots and of the registry that did not open when they were read. */
  readonly broken: number;
  /** Those of the registry; absent in a state of an earlier release. */
  readonly findings?: readonly Finding[];
  /** Absent when all rows are read. */
  readonly place: Place | undefined;
  readonly parts: readonly PartRef[];
  /** The last folder that was looked through for old snapshots; absent before the manifest is written. */
  readonly pruned?: string | undefined;
}

/** A nightly run. */
export interface Run {
  /** When it began: Unix milliseconds. */
  readonly began: number;
  /** Until when it waits for vaults. */
  readonly until: number;
}

export const reportOf = (
  state: RegistryReport["state"],
  { number, snapshots, behind, broken, findings = [] }: RunningRegistry,
): RegistryReport => ({
  state,
  number,
  vaults: snapshots.length,
  behind,
  broken,
  findings,
});
