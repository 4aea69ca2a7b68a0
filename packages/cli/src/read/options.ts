import type { Options } from "../frame/command.ts";
import { FILE_OPTIONS } from "../frame/output-file.ts";
import { FALLBACK_OPTIONS } from "../fallback/resolve.ts";

/** Options of the commands that read secrets by reference. */

export const READ_OPTIONS = {
  "no-newline": { type: "boolean", short: "n", summary: "do not print a newline after the value" },
  ...FILE_OPTIONS,
} as const satisfies Options;

export const INJECT_OPTIONS = {
  "in-file": { type: "string", short: "i", value: "FILE", summary: "the template (default: stdin)" },
  ...FILE_OPTIONS,
  ...FALLBACK_OPTIONS,
} as const satisfies Options;
