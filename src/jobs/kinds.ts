import type { JobKind } from "../model/job.ts";
import { type AnyKind, kind } from "./kind.ts";
import { RESEAL } from "./reseal.ts";
import { REWRAP } from "./rewrap.ts";
import { VERIFY } from "./verify.ts";

/** The kinds of jobs. */
export const KINDS: Readonly<Record<JobKind, AnyKind>> = {
  rewrap: kind(REWRAP),
  verify: kind(VERIFY),
  reseal: kind(RESEAL),
};
