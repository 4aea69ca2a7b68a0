import { useLayoutEffect } from "preact/hooks";
import { useSignal } from "@preact/signals";
import type { Job } from "@item-vault/client";
import { ListContent } from "../admin/list-content.tsx";
import { call } from "../state/client.ts";
import { explain } from "../failures/explain.ts";
import { showToast } from "../state/toasts.ts";
import { Day } from "../ui/day.tsx";
import { Dialog, Done } from "../ui/dialog.tsx";
import { Menu, type MenuAction } from "../ui/menu.tsx";
import { Table } from "../ui/table.tsx";
import { FindingList } from "./finding-list.tsx";
import { anyRuns, hasEnded, jobs, nameOf, resultOf, STATES } from "./jobs.ts";

/** The jobs of the service, which are loaded again while one of them runs. */

const PAUSE = 2_000; // milliseconds

/** Shows the jobs. Calls `onEnd` when a job has ended. */
export function JobsTable({ onEnd }: { readonly onEnd: () => void }) {
  const shown = useSignal<Job | undefined>(undefined);
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
      <ListContent
        list={jobs}
        empty={<p class="empty">No jobs have run yet. Backups, restores and verifications appear here.</p>}
      >
        {(rows) => (
          <Table
            label="Jobs"
            rows={rows}
            keyOf={({ id }) => id}
            columns={COLUMNS}
            actions={(job) => <JobMenu job={job} onFindings={() => (shown.value = job)} />}
          />
        )}
      </ListContent>
      {shown.value && <Findings job={shown.value} onClose={() => (shown.value = undefined)} />}
    </section>
  );
}

const COLUMNS = [
  { label: "Job", cell: (job: Job) => <span class="name">{nameOf(job)}</span> },
  { label: "Status", cell: (job: Job) => <State job={job} /> },
  { label: "Result", cell: (job: Job) => <span class="quiet">{resultOf(job)}</span> },
  { label: "Started", cell: ({ createdAt }: Job) => <Day time={createdAt} /> },
] as const;

const State = ({ job }: { readonly job: Job }) => (
  <>
    <span class={job.state === "failed" ? "state error" : "state"}>{STATES[job.state]}</span>
    {!hasEnded(job) && job.progress.total > 0 && (
      <progress aria-label="Progress" value={job.progress.done} max={job.progress.total} />
    )}
  </>
);

interface JobMenuProps {
  readonly job: Job;
  readonly onFindings: () => void;
}

/** Returns the handler of a job's action: it sends a request, then loads the jobs again. */
const change = (send: () => Promise<unknown>) => () =>
  void send()
    .then(() => jobs.load())
    .catch((error: unknown) => showToast(explain(error), "failed"));

function JobMenu({ job, onFindings }: JobMenuProps) {
  const path = { job: job.id };
  const stop = { label: "Stop", run: change(() => call("DELETE /v1/admin/jobs/{job}", { path })) };
  const actions: readonly MenuAction[] = [
    ...(job.findings.length > 0 ? [{ label: "Show findings", run: onFindings }] : []),
    ...(hasEnded(job) ? [] : [stop]),
  ];
  return actions.length > 0 && <Menu label={`Actions for ${nameOf(job)}`} actions={actions} />;
}

/** The first 100 findings of a job: what is wrong, and where. */
const Findings = ({ job, onClose }: { readonly job: Job; readonly onClose: () => void }) => (
  <Dialog title="Findings" onClose={onClose}>
    <FindingList findings={job.findings} />
    <Done onClose={onClose} />
  </Dialog>
);
