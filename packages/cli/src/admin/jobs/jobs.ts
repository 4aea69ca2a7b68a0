import type { Job } from "@item-vault/client";
import { STEP_TRIES_MAX } from "@item-vault/model/job";
import { isId } from "../../api/find.ts";
import { allOf } from "../../api/lists.ts";
import type { Call } from "../../frame/command.ts";
import { CliError } from "../../frame/failure.ts";
import { type Shown, show } from "../../output/format.ts";
import { pairsOf, tableOf } from "../../output/table.ts";
import { timeOf } from "../../output/time.ts";
import { lineOf } from "../verify/service.ts";
import { findingsOf, listJobs, loadJob, requireJob, stopJob } from "./service.ts";
import type { JOBS_OPTIONS } from "./table.ts";

type JobsCall = Call<typeof JOBS_OPTIONS>;

const HINT = "Run `item-vault admin jobs --help`.";

/** `admin jobs`: lists the jobs, shows one, or stops it. */
export async function run(call: JobsCall): Promise<void> {
  const { io, args, options, admin: connect } = call;
  const [name = "list", id] = args;
  const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name as keyof typeof ACTIONS] : undefined;
  const isComplete = name === "list" ? args.length <= 1 : args.length === 2 && isId(id ?? "");
  if (!action || !isComplete)
    throw new CliError("admin jobs: expected `list`, or `show` or `stop` with the id of a job", {
      exit: "usage",
      hint: HINT,
    });
  await show(io, options.format, await action(await connect(), id ?? ""));
}

const ACTIONS = {
  list: async (admin) => {
    const jobs = (await allOf(listJobs(admin))).map(requireJob);
    return { json: jobs, table: (columns) => tableOf(["ID", "KIND", "STATE", "DONE", "STARTED", ""], jobs.map(rowOf), columns) };
  },
  show: async (admin, id) => shownJob(await withFindings(admin, await loadJob(admin, id))),
  stop: async (admin, id) => shownJob(await withFindings(admin, await stopJob(admin, id))),
} satisfies Readonly<Record<string, (admin: Awaited<ReturnType<JobsCall["admin"]>>, id: string) => Promise<Shown>>>;

const withFindings = async (admin: Awaited<ReturnType<JobsCall["admin"]>>, job: Job): Promise<Job> => ({
  ...job,
  findings: [...(await findingsOf(admin, job))],
});

/** The total may be unknown. */
const progressOf = ({ progress: { done, total } }: Job): string => (done > total ? String(done) : `${done} of ${total}`);

const kindOf = ({ kind, dryRun }: Job): string => (dryRun ? `${kind} (dry run)` : kind);

const rowOf = (job: Job): string[] => [job.id, kindOf(job), job.state, progressOf(job), timeOf(job.createdAt), job.reason ?? ""];

const shownJob = (job: Job): Shown => ({
  json: job,
  table: () =>
    pairsOf([
      ["ID", job.id],
      ["Kind", kindOf(job)],
      ["State", job.state],
      ["Done", progressOf(job)],
      ["Started", timeOf(job.createdAt)],
      ["Ended", job.endedAt === undefined ? "" : timeOf(job.endedAt)],
      ["Reason", job.reason ?? ""],
      ["Tries", job.tries === undefined ? "" : `${job.tries} of ${STEP_TRIES_MAX}`],
      ...job.findings.map((finding) => ["Finding", lineOf(finding)] as const),
    ]),
});
