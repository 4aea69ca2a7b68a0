import type { Job } from "../../model/job.ts";
import type { RestoreResult } from "../../model/restore.ts";
import { presentTime } from "./time.ts";

/** Jobs on the wire (contract 26.1). */

export function presentJob({ createdAt, endedAt, result, ...job }: Job): object {
  const { restored } = result ?? {};
  return {
    ...job,
    result: restored ? { ...result, restored: presentRestored(restored) } : result,
    createdAt: presentTime(createdAt),
    endedAt: endedAt === undefined ? undefined : presentTime(endedAt),
  };
}

const presentRestored = ({ takenAt, ...restored }: RestoreResult): object => ({
  ...restored,
  takenAt: takenAt === undefined ? undefined : presentTime(takenAt),
});
