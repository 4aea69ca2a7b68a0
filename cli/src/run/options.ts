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
    summary: "read variables from a .env file; may be given several times",
  },
  watch: { type: "boolean", summary: "start the command again when one of its secrets has changed" },
  "no-masking": { type: "boolean", summary: "do not mask the secrets in the output, which then stays a terminal" },
  ...FALLBACK_OPTIONS,
} as const satisfies Options;
