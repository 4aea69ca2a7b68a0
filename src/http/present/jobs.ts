import type { Presented, Schemas } from "../../api/answer.ts";
import type { Job, JobResult } from "../../model/job.ts";
import { presentTime } from "./time.ts";

/** Jobs on the wire (contract 26.1). */

export function presentJob({ dryRun, createdAt, endedAt, result, ...job }: Job): Presented<Schemas.Job> {
  return {
    ...job,
    dryRun: dryRun || undefined,
    result: result && presentResult(result),
    createdAt: presentTime(createdAt),
    endedAt: endedAt === undefined ? undefined : presentTime(endedAt),
  };
}

function presentResult({ restored, ...others }: JobResult) {
  if (!restored) return others;
  const { takenAt } = restored;
  return { ...others, restored: { ...restored, takenAt: takenAt === undefined ? undefined : presentTime(takenAt) } };
}
