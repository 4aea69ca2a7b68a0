import { type Client, ItemVaultError } from "@item-vault/client";
import { request } from "../../api/answers.ts";
import { CliError } from "../../frame/failure.ts";
import { interruptible } from "../../frame/interrupt.ts";
import type { Io } from "../../frame/io.ts";
import { plural } from "../../frame/plural.ts";
import { startProgress } from "../../output/progress.ts";
import { hasEnded, type Job, JOBS, listJobs, loadJob } from "./service.ts";

/** What is to be done: the body of the request, and the words for the progress bar. */
export interface JobRequest {
  readonly json: { readonly kind: string };
  /** What a job of this kind has done, as in "rewrapped". */
  readonly label: string;
  /** What it counts, as in "row". */
  readonly unit: string;
}

/** Seconds that one request waits for the end of the job. The progress is drawn in between. */
const WAIT_SECONDS = 2;

/**
 * Starts a job and waits for its end. When one that does the same is under way, it waits for that one. Ctrl-C leaves the job running. Errors:
 * throws a CliError for a job that failed or was stopped.
 */
export async function runJob(io: Io, admin: Client, { json, label, unit }: JobRequest): Promise<Job> {
  const started = await startJob(admin, json);
  const progress = startProgress(io, label, undefined, (done, total) =>
    total ? `${done} of ${plural(total, unit)}` : plural(done, unit),
  );
  const hint = `It goes on. Look at it with \`item-vault admin jobs show ${started.id}\`.`;
  const ended = await interruptible(async (signal) => {
    let job = started;
    while (!hasEnded(job)) {
      job = await loadJob(admin, job.id, WAIT_SECONDS, signal);
      progress.set(job.progress.done, job.progress.total);
    }
    return job;
  })
    .catch((error: unknown) => {
      throw error instanceof CliError ? new CliError(error.message, { exit: error.exit, hint }) : error;
    })
    .finally(() => progress.end());
  if (ended.state === "done") return ended;
  const reason = ended.reason === undefined ? "" : `: ${ended.reason}`;
  throw new CliError(`The job ${ended.id} ${ended.state === "failed" ? "failed" : "was stopped"}${reason}`, {
    hint: "What it has done stays. Run the command again.",
  });
}

async function startJob(admin: Client, json: JobRequest["json"]): Promise<Job> {
  try {
    return await request<Job>(admin, "POST", JOBS, { json });
  } catch (error) {
    // The job under way does the same only where a request has nothing but its kind.
    const isTheSame = Object.keys(json).length === 1;
    if (!(error instanceof ItemVaultError) || error.kind !== "job_exists" || !isTheSame) throw error;
    for await (const job of listJobs(admin)) if (job.kind === json.kind && !hasEnded(job)) return job;
    return await request<Job>(admin, "POST", JOBS, { json }); // it has ended meanwhile
  }
}
