import { type Client, entriesOf, type Finding, type Job, type Policy } from "@item-vault/client";
import { SHOWN_FINDINGS_MAX } from "@item-vault/model/job";
import { allOf } from "../../api/lists.ts";
import { CliError } from "../../frame/failure.ts";

/** Long jobs of the service (contract 26.1). */

type Result = NonNullable<Job["result"]>;
export type BackedUp = NonNullable<Result["backup"]>;
export type Checked = NonNullable<Result["checked"]>;
export type Restored = NonNullable<Result["restored"]>;

export const hasEnded = ({ state }: Job): boolean => state === "done" || state === "failed" || state === "stopped";

export const listJobs = (admin: Client): AsyncGenerator<Job> => entriesOf(admin, "GET /v1/admin/jobs", {});

/** Throws a CliError for an answer that is not a job, for example from another service or a proxy. */
export function requireJob(job: Job): Job {
  // An answer may be any JSON.
  const { progress, findings } = (job ?? {}) as Partial<Job>;
  if (typeof progress?.done === "number" && typeof progress.total === "number" && Array.isArray(findings)) return job;
  throw new CliError("The service did not answer with a job", { exit: "unavailable", hint: "Check the host and its version." });
}

/** `wait`: the number of seconds that the service waits for the end of the job. */
export const loadJob = async (
  admin: Client,
  id: string,
  { wait, ...policy }: Policy & { readonly wait?: number } = {},
): Promise<Job> =>
  requireJob((await admin.call("GET /v1/admin/jobs/{job}", { path: { job: id }, query: { wait }, ...policy })).data);

/** Returns all findings of a job; of a running job, its findings so far. */
export const findingsOf = async (admin: Client, { id, findings }: Job): Promise<readonly Finding[]> =>
  findings.length < SHOWN_FINDINGS_MAX
    ? findings
    : allOf(entriesOf(admin, "GET /v1/admin/jobs/{job}/findings", { path: { job: id } }));

export const stopJob = async (admin: Client, id: string): Promise<Job> =>
  requireJob((await admin.call("DELETE /v1/admin/jobs/{job}", { path: { job: id } })).data);
