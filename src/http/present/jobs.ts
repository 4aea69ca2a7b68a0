import type { Job } from "../../model/job.ts";
import { presentTime } from "./time.ts";

/** Jobs on the wire (contract 26.1). */

export function presentJob({ createdAt, endedAt, ...job }: Job): object {
  return { ...job, createdAt: presentTime(createdAt), endedAt: endedAt === undefined ? undefined : presentTime(endedAt) };
}
