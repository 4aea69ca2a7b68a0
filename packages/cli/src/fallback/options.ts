import type { Options } from "../frame/command.ts";

/** Apart from resolve.ts, so that a start of the command line does not load its cipher. */
export const FALLBACK_OPTIONS = {
  fallback: { type: "string", value: "FILE", summary: "store the values encrypted, and use them if the service does not answer" },
  "max-age": { type: "string", value: "DURATION", summary: "maximum age of these values (default: 24h)" },
} as const satisfies Options;
