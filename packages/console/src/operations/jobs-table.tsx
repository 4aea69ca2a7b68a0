import { useLayoutEffect } from "preact/hooks";
import type { Job } from "@item-vault/client";
import { ID_FACT, ListContent, Rows, type RowsView } from "../admin/rows.tsx";
import { explain } from "../failures/explain.ts";
import { call } from "../state/client.ts";
import { showToast } from "../state/toasts.ts";
import { Day } from "../ui/day.tsx";
import { formatTime } from "../ui/time.ts";
import { FindingList } from "./finding-list.tsx";
import { anyRuns, hasEnded, jobs, nameOf, resultOf, STATES } from "./jobs.ts";

/** The jobs of the service, which are loaded again while one of them runs. */

const PAUSE = 2_000; // milliseconds

/** Shows the jobs. Calls `onEnd` when a job has ended. */
export function JobsTable({ onEnd }: { readonly onEnd: () => void }) {
  useLayoutEffect(() => {
    if (!anyRuns.value) return undefined;
    let timer: ReturnType<typeof setTimeout>;
    const poll = async (): Promise<void> => {
      if (!document.hidden) await jobs.load();
      timer = setTimeout(() => void poll(), PAUSE);
    };
    timer = setTimeout(() => void poll(), PAUSE);
    return () => {
      clearTimeout(timer);
      onEnd();
    };
  }, [anyRuns.value]);
  return (
    <section aria-label="Jobs">
      <h2>Jobs</h2>
      <ListContent list={jobs} empty="No jobs have run yet. Backups, restores and verifications appear here.">
        {(rows) => <Rows label="Jobs" rows={rows} view={VIEW} />}
      </ListContent>
    </section>
  );
}

const VIEW: RowsView<Job> = {
  name: "Job",
  nameOf,
  columns: [
    {
      label: "Status",
      cell: (job) => (
        <>
          <span class={job.state === "failed" ? "state error" : "state"}>{STATES[job.state]}</span>
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
    .catch((error: unknown) => showToast(explain(error), "failed"));
}
