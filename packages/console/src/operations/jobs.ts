import { computed } from "@preact/signals";
import type { Job, NewJob } from "@item-vault/client";
import { createList } from "../admin/lists.ts";
import { call } from "../state/client.ts";
import { plural } from "../ui/plural.ts";
import { formatSize } from "../ui/size.ts";

/** The jobs of the service (contract 26), and what they are called. */

/** The newest 50, the newest first. */
export const jobs = createList(async () => (await call("GET /v1/admin/jobs")).data, false);

const ENDED: ReadonlySet<Job["state"]> = new Set(["done", "failed", "stopped"]);
export const hasEnded = ({ state }: Job): boolean => ENDED.has(state);
export const anyRuns = computed(() => jobs.rows.value?.some((job) => !hasEnded(job)) ?? false);

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

export const STATES: Readonly<Record<Job["state"], string>> = {
  waiting: "Waiting",
  running: "Running",
  done: "Done",
  failed: "Failed",
  stopped: "Stopped",
};

/** What a job does, in words. */
export const nameOf = ({ kind, dryRun }: Job): string => (dryRun ? `${KINDS[kind]}: preview` : KINDS[kind]);

/** What a job has done, or would do, in words. */
export function resultOf({ dryRun, result = {}, findings, reason }: Job): string {
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
