import type { Options } from "../frame/command.ts";
import { FALLBACK_OPTIONS } from "../fallback/resolve.ts";

/** Options of `run`. */

export const RUN_OPTIONS = {
  // Node itself reads `--env-file`.
  env: {
    type: "string",
    short: "e",
    multiple: true,
    value: "FILE",
    summary: "read variables from a .env file (repeatable)",
  },
  watch: { type: "boolean", summary: "restart the command when one of its secrets changes" },
  "no-masking": { type: "boolean", summary: "do not mask secrets in the output; the command keeps the terminal" },
  ...FALLBACK_OPTIONS,
} as const satisfies Options;
