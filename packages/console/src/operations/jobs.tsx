import type { Finding, Job, NewJob } from "@item-vault/client";
import { computed } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";
import { createList } from "../admin/lists.ts";
import { ID_FACT, RowList, type RowsView } from "../admin/rows.tsx";
import { call } from "../state/client.ts";
import { showFailure } from "../state/toasts.ts";
import { Day } from "../ui/day.tsx";
import { plural } from "../ui/plural.ts";
import { formatSize } from "../ui/size.ts";
import { capitalized } from "../ui/texts.ts";
import { formatTime } from "../ui/time.ts";

/** The jobs of the service (contract 26), and what they are called. */

/** The newest 50, the newest first. */
const jobs = createList(async () => (await call("GET /v1/admin/jobs")).data);

const ENDED: ReadonlySet<Job["state"]> = new Set(["done", "failed", "stopped"]);
const hasEnded = ({ state }: Job): boolean => ENDED.has(state);
const anyRuns = computed(() => jobs.rows.value?.some((job) => !hasEnded(job)) ?? false);

/** Starts a job. Throws an ItemVaultError, also if another job excludes it. */
export async function startJob(body: NewJob): Promise<Job> {
  const { data } = await call("POST /v1/admin/jobs", { body, headers: { "Idempotency-Key": crypto.randomUUID() } });
  await jobs.load();
  return data;
}

/** How long a request waits for the end of a job, in seconds (contract 26.4). */
const WAIT = 20;

/** Waits for the end of a job. Throws an ItemVaultError, or the reason of the aborted signal. */
export async function untilEnded(job: Job, signal: AbortSignal): Promise<Job> {
  let last = job;
  while (!hasEnded(last)) {
    signal.throwIfAborted();
    last = (await call("GET /v1/admin/jobs/{job}", { path: { job: job.id }, query: { wait: WAIT }, signal })).data;
  }
  return last;
}

export const KINDS: Readonly<Record<Job["kind"], string>> = {
  rewrap: "Re-wrap all keys with the active root key",
  verify: "Verify stored data",
  backup: "Back up",
  restore: "Restore",
  expire: "Purge expired items",
  purge: "Clean up deleted vaults",
};

const nameOf = ({ kind, dryRun }: Job): string => (dryRun ? `${KINDS[kind]}: preview` : KINDS[kind]);

/** What a job has done, or would do, in words. */
function resultOf({ dryRun, result = {}, findings, reason }: Job): string {
  const { checked, backup, restored } = result;
  const texts = [
    checked && `${plural(checked.rows, "row")} and ${plural(checked.contents, "file")} checked`,
    backup && `${plural(backup.made, "vault")} backed up, ${backup.unchanged} unchanged, ${formatSize(backup.bytes)}`,
    backup && backup.behind > 0 && `${plural(backup.behind, "vault")} left out`,
    restored && `${plural(restored.vaults, "vault")} and ${plural(restored.items, "item")} ${dryRun ? "would be " : ""}restored`,
    findings.length > 0 && plural(findings.length, "finding"),
    reason && reason.replaceAll("_", " "),
  ];
  return texts.filter(Boolean).join(" · ");
}

const PAUSE = 2_000; // milliseconds

/** Shows the jobs, which are loaded again while one of them runs. Calls `onEnd` when a job has ended. */
export function JobsTable({ onEnd }: { readonly onEnd: () => void }) {
  useLayoutEffect(() => {
    if (!anyRuns.value) return undefined;
    let ended = false;
    let timer: ReturnType<typeof setTimeout>;
    const poll = async (): Promise<void> => {
      if (!document.hidden) await jobs.load();
      if (!ended) timer = setTimeout(() => void poll(), PAUSE);
    };
    timer = setTimeout(() => void poll(), PAUSE);
    return () => {
      ended = true;
      clearTimeout(timer);
      onEnd();
    };
  }, [anyRuns.value]);
  return (
    <section aria-label="Jobs">
      <h2>Jobs</h2>
      <RowList view={VIEW} />
    </section>
  );
}

const VIEW: RowsView<Job> = {
  title: "Jobs",
  list: jobs,
  empty: "No jobs have run yet. Backups, restores and verifications appear here.",
  name: "Job",
  nameOf,
  columns: [
    {
      label: "Status",
      cell: (job) => (
        <>
          <span class={job.state === "failed" ? "state error" : "state"}>{capitalized(job.state)}</span>
          {!hasEnded(job) && job.progress.total > 0 && (
            <progress aria-label="Progress" value={job.progress.done} max={job.progress.total} />
          )}
        </>
      ),
    },
    { label: "Result", cell: resultOf },
    {
      label: "Started",
      cell: ({ createdAt }) => <Day time={createdAt} />,
      full: ({ createdAt }) => formatTime(createdAt),
    },
  ],
  facts: [
    { label: "Ended", cell: ({ endedAt }) => endedAt && formatTime(endedAt) },
    { label: "Findings", cell: ({ findings }) => findings.length > 0 && <FindingList findings={findings} /> },
    ID_FACT,
  ],
  acts: [{ label: "Stop", when: (job) => !hasEnded(job), run: stop }],
};

function stop({ id }: Job): void {
  call("DELETE /v1/admin/jobs/{job}", { path: { job: id } })
    .then(() => jobs.load())
    .catch(showFailure);
}

/** Findings of a job or of a snapshot: the fault and its place (contract 22.2). */
export const FindingList = ({ findings }: { readonly findings: readonly Finding[] }) => (
  <ul class="outcomes">
    {findings.map((finding, index) => (
      <li key={index}>
        <strong>{finding.kind.replaceAll("_", " ")}</strong>{" "}
        {[finding.vault, finding.item, finding.file, finding.id].filter(Boolean).join(" ")}{" "}
        <span class="quiet">
          {finding.detail}
          {finding.repaired === true && ", repaired"}
        </span>
      </li>
    ))}
  </ul>
);
