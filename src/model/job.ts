import { type Failure, type FailureKind, describe } from "./failure.ts";
import type { Checked, Finding } from "./finding.ts";
import type { Resealed } from "./reseal.ts";

/** Long jobs (contract 26, decision 0047): work that an alarm carries out in steps, without a request that waits for it. */

export const JOB_KINDS = ["rewrap", "verify", "reseal"] as const;

export type JobKind = (typeof JOB_KINDS)[number];

export const JOB_STATES = ["waiting", "running", "paused", "done", "failed", "stopped"] as const;

export type JobState = (typeof JOB_STATES)[number];

/** In units of the kind: Items for a reseal, rows for the others. */
export interface JobProgress {
  readonly done: number;
  /** 0 as long as it is not known. */
  readonly total: number;
}

/** What a kind tells besides its progress and its findings. */
export interface JobResult {
  readonly checked?: Checked;
  readonly resealed?: Resealed;
}

/** A job as the admin sees it. Times are Unix milliseconds. */
export interface Job {
  readonly id: string;
  readonly kind: JobKind;
  readonly state: JobState;
  readonly progress: JobProgress;
  readonly result: JobResult | undefined;
  /** The first ones; `listJobFindings` has all. */
  readonly findings: readonly Finding[];
  readonly createdAt: number;
  readonly endedAt: number | undefined;
  /** Why it failed, or why its last step will be tried again. */
  readonly reason: FailureKind | undefined;
}

/** Which request has created a job. */
export interface JobRequestId {
  readonly id: string;
  /** A hash of what the request asks for: a repeated request with the same id has the same one. */
  readonly request: string;
}

/** A request to create a job: plain data, because it crosses Durable Object RPC. */
export interface NewJob extends JobRequestId {
  readonly kind: JobKind;
  /** What the kind has to know, for example a vault. */
  readonly input: object;
  /** Whether the job waits for those that exclude it. Otherwise it is refused while one of them has not ended. */
  readonly waits?: boolean;
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

export const hasEnded = (state: JobState): boolean => state === "done" || state === "failed" || state === "stopped";

/** Whether a step that failed so is tried again: the service or its storage may answer otherwise later. */
export const isPassing = (failure: Failure): boolean => describe(failure).status >= 500;
