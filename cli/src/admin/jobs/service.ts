import type { Client } from "@item-vault/client";
import { allOf, entriesOf, request } from "../../api/answers.ts";
import { CliError } from "../../frame/failure.ts";
import type { Checked, Finding } from "../verify/service.ts";

/** Long jobs as the service describes them (contract 26.1). */

export const JOBS = "/v1/admin/jobs";

/** What a reseal has passed. */
export interface Resealed {
  readonly items: number;
  readonly rows: number;
  /** Records that do not open. */
  readonly unreadable: number;
}

/** What a backup has made; with a dry run, what it would make. */
export interface BackedUp {
  /** The number of the snapshot of the vault, or of the registry; absent when there is no new one. */
  readonly snapshot?: number;
  /** The vaults with a new snapshot, those that did not change, and those that were left out. */
  readonly made: number;
  readonly unchanged: number;
  readonly behind: number;
  /** The rows and bytes of the new snapshots; with a dry run, the Items and the bytes of the vaults. */
  readonly rows: number;
  readonly bytes: number;
  /** The contents of Files that were looked for. */
  readonly contents: number;
}

export interface Job {
  readonly id: string;
  readonly kind: string;
  readonly state: "waiting" | "running" | "paused" | "done" | "failed" | "stopped";
  readonly progress: { readonly done: number; readonly total: number };
  readonly result?: {
    readonly checked?: Checked;
    readonly resealed?: Resealed;
    readonly backup?: BackedUp;
    readonly restored?: Restored;
  };
  /** The first 100: `findingsOf` has all. */
  readonly findings: readonly Finding[];
  readonly createdAt: string;
  readonly endedAt?: string;
  /** Why it failed, or why its last step is tried again. */
  readonly reason?: string;
}

/** What a job of restore has restored, or would restore (contract 21.20). */
export interface Restored {
  readonly snapshot: number;
  readonly takenAt: string;
  /** Newer backups that are not restored: they are not authentic, or have no vaults. */
  readonly skipped?: readonly { readonly snapshot: number; readonly reason: string }[];
  readonly existing?: "none" | "deleted" | "older" | "newer";
  /** Of a dry run: whether the database has room for the rows. */
  readonly room?: boolean;
  readonly vaults: number;
  readonly items: number;
  readonly kept: number;
  readonly leftOut: number;
}

export const hasEnded = ({ state }: Job): boolean => state === "done" || state === "failed" || state === "stopped";

export const listJobs = (admin: Client): AsyncGenerator<Job> => entriesOf<Job>(admin, JOBS);

/** Errors: throws a CliError for an answer that is no job, as that of another service or of a proxy. */
export function requireJob(job: Job): Job {
  // An answer may be any JSON.
  const { progress, findings } = (job ?? {}) as Partial<Job>;
  if (typeof progress?.done === "number" && typeof progress.total === "number" && Array.isArray(findings)) return job;
  throw new CliError("The answer of the service is no job", { exit: "unavailable", hint: "Check the host and its release." });
}

/** In: seconds for which the service waits for the end of the job. */
export const loadJob = async (admin: Client, id: string, wait = 0, signal?: AbortSignal): Promise<Job> =>
  requireJob(await request<Job>(admin, "GET", `${JOBS}/${id}`, { ...(wait > 0 && { query: { wait } }), signal }));

/** The most findings that a job shows by itself (contract 26.1). */
const SHOWN_FINDINGS_MAX = 100;

/** All findings of a job, those so far when it has not ended. */
export const findingsOf = async (admin: Client, { id, findings }: Job): Promise<readonly Finding[]> =>
  findings.length < SHOWN_FINDINGS_MAX ? findings : allOf(entriesOf<Finding>(admin, `${JOBS}/${id}/findings`));

export const pauseJob = async (admin: Client, id: string): Promise<Job> =>
  requireJob(await request<Job>(admin, "POST", `${JOBS}/${id}/pause`));

export const resumeJob = async (admin: Client, id: string): Promise<Job> =>
  requireJob(await request<Job>(admin, "POST", `${JOBS}/${id}/resume`));

export const stopJob = async (admin: Client, id: string): Promise<Job> =>
  requireJob(await request<Job>(admin, "DELETE", `${JOBS}/${id}`));
