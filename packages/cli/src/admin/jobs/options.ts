import type { Options } from "../../frame/command.ts";
import { FORMAT_OPTION } from "../../output/format.ts";

/** Options of `admin jobs`. */

export const JOBS_OPTIONS = FORMAT_OPTION satisfies Options;
