import { type Failure, type FailureKind, describe } from "./failure.ts";
import type { Checked, Finding } from "./finding.ts";
import type { RestoreResult } from "./restore.ts";

/** Long jobs (contract 26): work that an alarm carries out in steps, without a request that waits for it. */

/** The kinds that the admin starts. */
export const REQUESTED_KINDS = ["rewrap", "verify", "backup", "restore"] as const;

export type RequestedKind = (typeof REQUESTED_KINDS)[number];

/** The kinds that the service starts by itself when there is work. */
export const SERVICE_KINDS = ["expire", "purge"] as const;

export type ServiceKind = (typeof SERVICE_KINDS)[number];

export const JOB_KINDS = [...REQUESTED_KINDS, ...SERVICE_KINDS] as const;

export type JobKind = (typeof JOB_KINDS)[number];

export const JOB_STATES = ["waiting", "running", "done", "failed", "stopped"] as const;

export type JobState = (typeof JOB_STATES)[number];

/** In units of the kind (contract 26.1). */
export interface JobProgress {
  readonly done: number;
  /** 0 while it is not known. */
  readonly total: number;
}

/** The result of a kind, besides its progress and findings. */
export interface JobResult {
  readonly checked?: Checked;
  readonly backup?: BackupResult;
  readonly restored?: RestoreResult;
}

/** The progress of a backup job. */
export interface BackupResult {
  /** The number of the snapshot of the vault, or of the registry; absent before it is written, and of a vault that did not change. */
  readonly snapshot?: number | undefined;
  /** Counts of vaults: with a new snapshot, unchanged since their newest snapshot, and left out. */
  readonly made: number;
  readonly unchanged: number;
  readonly behind: number;
  /** The rows and bytes of these snapshots, and the contents that were looked for. */
  readonly rows: number;
  readonly bytes: number;
  readonly contents: number;
}

/** Tries of a step before its job fails, or continues without the vault. */
export const STEP_TRIES_MAX = 10;

/** A job as the admin sees it. Times are Unix milliseconds. */
export interface Job {
  readonly id: string;
  readonly kind: JobKind;
  /** True if the job changes nothing and only reports. */
  readonly dryRun: boolean;
  readonly state: JobState;
  readonly progress: JobProgress;
  readonly result: JobResult | undefined;
  /** The first ones; `listJobFindings` has all. */
  readonly findings: readonly Finding[];
  readonly createdAt: number;
  readonly endedAt: number | undefined;
  /** Why it failed, or why its last step will be tried again. */
  readonly reason: FailureKind | undefined;
  /** Number of times that a retried step has begun. */
  readonly tries: number | undefined;
}

export interface JobRequestId {
  readonly id: string;
  /** A hash of the request's content. A repeated request with the same id has the same hash. */
  readonly request: string;
}

/** The position of a job in the list of all jobs. It stays valid after the job is deleted. */
export type JobPlace = Pick<Job, "createdAt" | "id">;

/** A request to create a job: plain data, because it crosses Durable Object RPC. */
export interface NewJob extends JobRequestId {
  readonly kind: JobKind;
  /** The input of the kind, for example a vault. */
  readonly input: object;
  /**
   * True if the job waits for the jobs that exclude it. Without it, the job is refused while one of them runs. A waiting job is
   * not created if another job for the same request has not ended.
   */
  readonly waits?: boolean;
}

export interface BackupInput {
  /** Only this vault; absent: all vaults and the registry. */
  readonly vault?: string | undefined;
  /** True if every part is written and every content checked, even if earlier snapshots have them. */
  readonly full: boolean;
}

export interface RewrapInput {
  /** The id of the root key that is active for the Worker that has created the job. */
  readonly activeKey: string;
}

/** Findings that a job itself shows (contract 26.1). */
export const SHOWN_FINDINGS_MAX = 100;

/** Vaults of a list in the state of a job. */
export const LISTED_VAULTS_MAX = 500;

export const hasEnded = (state: JobState): boolean => state === "done" || state === "failed" || state === "stopped";

/** Returns true if a step with this failure is retried, because the service or its storage may answer differently later. */
export const isPassing = (failure: Failure): boolean => describe(failure).status >= 500;

/** The input of a verify job (contract 22.1). */
export interface VerifyInput {
  /** Only this vault; absent: the whole deployment. */
  readonly vault?: string | undefined;
  /** True if contents are only checked for existence, and not read. */
  readonly quick: boolean;
  readonly repair: boolean;
  /** True if the repair lowers counts to the number of rows: in the vault, or, without a vault, in the registry. */
  readonly acceptLoss: boolean;
  /** True if the job checks the backups instead of the live data. */
  readonly backup: boolean;
}

/** A request of `verify` to a vault's coordinator (contract 22). It is plain data, because it crosses Durable Object RPC. */
export type VerifyRequest =
  /** Asks for the keys among these that are recorded as pending: uploads in flight, and released contents. */
  | { readonly kind: "pending"; readonly keys: readonly string[] }
  /** Counts the rows of the vault again. With `acceptLoss`, missing Items are no longer counted. */
  | { readonly kind: "recount"; readonly acceptLoss: boolean };

/** Keys, of a request for `pending`; else nothing. */
export type VerifyAnswer = readonly string[];
