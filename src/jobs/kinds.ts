import type { JobKind } from "../model/job.ts";
import { BACKUP } from "./backup.ts";
import { EXPIRE } from "./expire.ts";
import { type AnyKind, kind } from "./kind.ts";
import { PURGE } from "./purge.ts";
import { RESTORE } from "./restore.ts";
import { REWRAP } from "./rewrap.ts";
import { VERIFY } from "./verify.ts";

export const KINDS: Readonly<Record<JobKind, AnyKind>> = {
  rewrap: kind(REWRAP),
  verify: kind(VERIFY),
  backup: kind(BACKUP),
  expire: kind(EXPIRE),
  purge: kind(PURGE),
  restore: kind(RESTORE),
};
