import type { JobKind } from "../model/job.ts";
import { BACKUP } from "./backup.ts";
import { type AnyKind, kind } from "./kind.ts";
import { RESTORE } from "./restore.ts";
import { REWRAP } from "./rewrap.ts";
import { VERIFY } from "./verify.ts";

/** The kinds of jobs. */
export const KINDS: Readonly<Record<JobKind, AnyKind>> = {
  rewrap: kind(REWRAP),
  verify: kind(VERIFY),
  backup: kind(BACKUP),
  restore: kind(RESTORE),
};
