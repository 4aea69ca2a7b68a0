import { type Failure, type FailureKind, describe } from "./failure.ts";
import type { Checked, Finding } from "./finding.ts";
import type { Resealed } from "./reseal.ts";
import type { RestoreResult } from "./restore.ts";

/** Long jobs (contract 26, decision 0047): work that an alarm carries out in steps, without a request that waits for it. */

/** The kinds that the admin starts. */
export const REQUESTED_KINDS = ["rewrap", "verify", "reseal", "backup", "restore"] as const;

export type RequestedKind = (typeof REQUESTED_KINDS)[number];

/** The kinds that the service starts by itself, when there is something to do. */
export const SERVICE_KINDS = ["expire", "purge"] as const;

export type ServiceKind = (typeof SERVICE_KINDS)[number];

export const JOB_KINDS = [...REQUESTED_KINDS, ...SERVICE_KINDS] as const;

export type JobKind = (typeof JOB_KINDS)[number];

export const JOB_STATES = ["waiting", "running", "paused", "done", "failed", "stopped"] as const;

export type JobState = (typeof JOB_STATES)[number];

/** In units of the kind (contract 26.1). */
export interface JobProgress {
  readonly done: number;
  /** 0 as long as it is not known. */
  readonly total: number;
}

/** What a kind tells besides its progress and its findings. */
export interface JobResult {
  readonly checked?: Checked;
  readonly resealed?: Resealed;
  readonly backup?: BackupResult;
  readonly restored?: RestoreResult;
}

/** What a job of backup has made until now. */
export interface BackupResult {
  /** The number of the snapshot of the vault, or of the registry; absent before it is written, and of a vault that did not change. */
  readonly snapshot?: number | undefined;
  /** The vaults that got a snapshot, or would get one; those that are as their newest snapshot has them; and those that were left out. */
  readonly made: number;
  readonly unchanged: number;
  readonly behind: number;
  /** The rows and bytes of these snapshots, and the contents that were looked for. With `dryRun`, Items and bytes of the vaults. */
  readonly rows: number;
  readonly bytes: number;
  readonly contents: number;
}

/** How often a step is tried before its job fails, or goes on without the vault. */
export const STEP_TRIES_MAX = 10;

/** A job as the admin sees it. Times are Unix milliseconds. */
export interface Job {
  readonly id: string;
  readonly kind: JobKind;
  /** Whether it only tells what it would do. */
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
  /** How often a step that is tried again was begun. */
  readonly tries: number | undefined;
}

/** Which request has created a job. */
export interface JobRequestId {
  readonly id: string;
  /** A hash of what the request asks for: a repeated request with the same id has the same one. */
  readonly request: string;
}

/** Where a job comes in the list of all jobs. It is a place also when the job was deleted. */
export type JobPlace = Pick<Job, "createdAt" | "id">;

/** A request to create a job: plain data, because it crosses Durable Object RPC. */
export interface NewJob extends JobRequestId {
  readonly kind: JobKind;
  /** What the kind has to know, for example a vault. */
  readonly input: object;
  /**
   * Whether the job waits for those that exclude it. Otherwise it is refused while one of them has not ended. One that waits is not created
   * while another one that was asked for the same has not ended.
   */
  readonly waits?: boolean;
}

/** What a backup has to know. */
export interface BackupInput {
  /** Only this vault; absent: all vaults and the registry. */
  readonly vault?: string | undefined;
  /** Whether every part is written and every content looked for, also those that earlier snapshots have. */
  readonly full: boolean;
  /** Whether it only counts what it would do. */
  readonly dryRun: boolean;
}

/** What a rewrap has to know. */
export interface RewrapInput {
  /** The id of the root key that is active for the Worker that has created the job. */
  readonly activeKey: string;
}

/** What a reseal has to know. */
export interface ResealInput {
  readonly vault: string;
  /** The id of the keys that are to be replaced. */
  readonly dataKey: string;
}

/** The most findings that a job shows by itself (contract 26.1). */
export const SHOWN_FINDINGS_MAX = 100;

/** The most vaults of a list that a job keeps in its state. */
export const LISTED_VAULTS_MAX = 500;

export const hasEnded = (state: JobState): boolean => state === "done" || state === "failed" || state === "stopped";

/** Whether a step that failed so is tried again: the service or its storage may answer otherwise later. */
export const isPassing = (failure: Failure): boolean => describe(failure).status >= 500;
