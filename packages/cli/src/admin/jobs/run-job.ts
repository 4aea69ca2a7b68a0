import { setTimeout as sleep } from "node:timers/promises";
import { type Client, ItemVaultError, type Job, type NewJob } from "@item-vault/client";
import { STEP_TRIES_MAX } from "@item-vault/model/job";
import { isId } from "../../api/find.ts";
import { CliError, failureOf } from "../../frame/failure.ts";
import type { Io } from "../../frame/io.ts";
import { plural, printable } from "../../frame/printable.ts";
import { interruptible } from "../../frame/signals.ts";
import { tell } from "../../output/format.ts";
import { startProgress } from "../../output/progress.ts";
import { lineOf } from "../verify/service.ts";
import { findingsOf, hasEnded, loadJob, requireJob } from "./service.ts";

/** The request for a job: its body, and the words for the progress bar. */
export interface JobRequest {
  readonly json: NewJob;
  /** The Idempotency-Key, when the same command is to follow a job that it started before. */
  readonly key?: string;
  /** The action of a job of this kind, as in "rewrapped". */
  readonly label: string;
  /** The counted unit, as in "row". */
  readonly unit: string;
  /** What to do about failures that the same command gets again, by their kinds. */
  readonly hints?: Readonly<Record<string, string>>;
}

/** Seconds that one request waits for the end of the job. The progress is drawn in between. */
const WAIT_SECONDS = 2;

/** Milliseconds from one request to the next, at least: a service that stops may answer before the time is over. */
const INTERVAL_MS = 1_000;

/** Milliseconds from one request to the next, at most, while the service does not answer. */
const OUTAGE_INTERVAL_MS_MAX = 10_000;

/** Milliseconds for which the service may be unreachable or answer with a 5xx. A silent host ends the command earlier, by `--timeout`. */
const OUTAGE_MS_MAX = 240_000;

/**
 * Starts a job and waits for its end. If an equal job is running, waits for that job. If another job excludes this one, the error names that
 * job. Ctrl-C leaves the job running. Throws a CliError for a job that failed or was stopped, after its findings, and for any
 * failure, with a hint.
 */
export async function runJob(io: Io, admin: Client, { json, key, label, unit, hints }: JobRequest): Promise<Job> {
  const started = await interruptible((signal) =>
    // A refusal has its own hint: nothing was started then.
    withHint(
      "It may have started. Check `item-vault admin jobs`.",
      () => startJob(admin, { json, key }, signal),
      ({ exit }, error) => signal.aborted || (exit === "unavailable" && !claimsNothing(error)),
    ),
  );
  const progress = startProgress(io, label, undefined, (done, total) =>
    total ? `${done} of ${plural(total, unit)}` : plural(done, unit),
  );
  let failed = "";
  const onProgress = async (job: Job): Promise<void> => {
    const line = failureLineOf(job);
    if (line !== failed && line !== "") {
      progress.end();
      await tell(io, line);
    }
    failed = line;
    progress.set(job.progress.done, job.progress.total);
  };
  const command = `\`item-vault admin jobs show ${started.id}\``;
  const ended = await withHint(`It keeps running. Check it with ${command}.`, () =>
    interruptible((signal) => endOf(admin, started, signal, onProgress)),
  ).finally(() => progress.end());
  if (ended.state === "done") return ended;
  const hint = `Finished steps are kept: see ${command}. Run the command again.`;
  const findings = await withHint(hint, () => findingsOf(admin, ended));
  for (const finding of findings) await tell(io, lineOf(finding));
  const reason = ended.reason === undefined ? "" : `: ${ended.reason}`;
  const message = `The job ${ended.id} ${ended.state === "failed" ? "failed" : "was stopped"}${reason}`;
  const lasting = hints?.[ended.reason ?? ""];
  throw new CliError(message, lasting === undefined ? { hint } : { exit: "conflict", hint: lasting });
}

/** Why the last try of a step failed; empty if it did not, or if the job has ended. */
const failureLineOf = ({ reason, tries = 0, endedAt }: Job): string =>
  reason === undefined || endedAt !== undefined
    ? ""
    : `Try ${tries} of ${STEP_TRIES_MAX} failed: ${reason}. The job tries again by itself.`;

/** Kinds whose running job may have other options, or a wider scope, than the request. */
const DIFFERING = new Set(["verify", "backup", "restore"]);

/**
 * Loads a job until it has ended. Each request is sent once, because the next request asks the same. Throws the last failure if
 * the service has returned no job for `OUTAGE_MS_MAX`. Throws a permanent failure, such as a refused token, immediately.
 */
async function endOf(admin: Client, started: Job, signal: AbortSignal, onProgress: (job: Job) => Promise<void>): Promise<Job> {
  let job = started;
  let [answeredAt, failures] = [Date.now(), 0];
  while (!hasEnded(job)) {
    const sentAt = Date.now();
    try {
      job = await loadJob(admin, job.id, { wait: WAIT_SECONDS, attempts: 1, signal });
      [answeredAt, failures] = [Date.now(), 0];
      await onProgress(job);
      if (!hasEnded(job)) await pause(sentAt + INTERVAL_MS - Date.now(), signal);
    } catch (error) {
      signal.throwIfAborted();
      const isSilent = error instanceof ItemVaultError && error.kind === "timeout";
      if (isSilent || failureOf(error)?.exit !== "unavailable" || Date.now() - answeredAt > OUTAGE_MS_MAX) throw error;
      await pause(Math.min(OUTAGE_INTERVAL_MS_MAX, INTERVAL_MS * 2 ** failures++), signal);
    }
  }
  return job;
}

/** Waits. Throws the reason of the signal, which is a CliError, instead of the timer's AbortError. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(Math.max(0, ms), undefined, { signal }).catch(() => signal.throwIfAborted());
}

/** Runs a function. Rethrows an error with this hint, if the hint applies. A defect of this program is not changed. */
async function withHint<T>(
  hint: string,
  run: () => Promise<T>,
  applies: (failure: CliError, error: unknown) => boolean = () => true,
): Promise<T> {
  try {
    return await run();
  } catch (error) {
    const failure = failureOf(error);
    throw failure && applies(failure, error) ? new CliError(failure.message, { exit: failure.exit, hint }) : error;
  }
}

/** Returns true if the answer states that nothing has begun. */
const claimsNothing = (error: unknown): boolean => error instanceof ItemVaultError && error.kind === "database_full";

async function startJob(admin: Client, { json, key }: Pick<JobRequest, "json" | "key">, signal: AbortSignal): Promise<Job> {
  const headers = key === undefined ? {} : { "Idempotency-Key": key };
  const post = async () => requireJob((await admin.call("POST /v1/admin/jobs", { body: json, headers, signal })).data);
  try {
    return await post();
  } catch (error) {
    if (!(error instanceof ItemVaultError) || !isId(error.job ?? "")) throw error;
    const job = await loadJob(admin, error.job!, { signal });
    // A rewrap behaves like every other job.
    if (job.kind !== json.kind || DIFFERING.has(job.kind)) throw excludedBy(job, error);
    return hasEnded(job) ? await post() : job;
  }
}

const excludedBy = ({ id, kind }: Job, error: ItemVaultError): CliError =>
  new CliError(error.message, {
    exit: "conflict",
    hint: `It is a ${printable(kind)} job: \`item-vault admin jobs show ${id}\`. Run the command again when it is done.`,
  });
