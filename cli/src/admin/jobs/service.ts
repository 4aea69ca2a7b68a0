import type { Client } from "@item-vault/client";
import { allOf, entriesOf, request } from "../../api/answers.ts";
import type { Checked, Finding } from "../verify/service.ts";

/** Long jobs as the service describes them (contract 26.1). */

export const JOBS = "/v1/admin/jobs";

export interface Job {
  readonly id: string;
  readonly kind: string;
  readonly state: "waiting" | "running" | "done" | "failed" | "stopped";
  readonly progress: { readonly done: number; readonly total: number };
  readonly result?: { readonly checked?: Checked };
  /** The first 100: `findingsOf` has all. */
  readonly findings: readonly Finding[];
  readonly createdAt: string;
  readonly endedAt?: string;
  /** Why it failed, or why its last step is tried again. */
  readonly reason?: string;
}

export const hasEnded = ({ state }: Job): boolean => state === "done" || state === "failed" || state === "stopped";

export const listJobs = (admin: Client): AsyncGenerator<Job> => entriesOf<Job>(admin, JOBS);

/** In: seconds for which the service waits for the end of the job. */
export const loadJob = (admin: Client, id: string, wait = 0, signal?: AbortSignal): Promise<Job> =>
  request<Job>(admin, "GET", `${JOBS}/${id}`, { ...(wait > 0 && { query: { wait } }), signal });

/** The most findings that a job shows by itself (contract 26.1). */
const SHOWN_FINDINGS_MAX = 100;

/** All findings of a job that has ended. */
export const findingsOf = async (admin: Client, { id, findings }: Job): Promise<readonly Finding[]> =>
  findings.length < SHOWN_FINDINGS_MAX ? findings : allOf(entriesOf<Finding>(admin, `${JOBS}/${id}/findings`));

export const stopJob = (admin: Client, id: string): Promise<Job> => request<Job>(admin, "DELETE", `${JOBS}/${id}`);
