import type { Call, Options } from "../../frame/command.ts";
import { FORMAT_OPTION } from "../../output/format.ts";

/** Options of `admin keys`. */

export const KEYS_OPTIONS = {
  file: { type: "string", value: "FILE", summary: "the file with ROOT_KEYS, by default production.vars" },
  upload: { type: "boolean", summary: "then run wrangler, which gives the service the new ROOT_KEYS" },
  leaked: { type: "boolean", summary: "remove: do not keep the public key, so that the tokens that the key signed end" },
  all: { type: "boolean", summary: "reseal: every vault" },
  before: { type: "string", value: "TIME", summary: "reseal: only vaults whose keys were made before this time" },
  "dry-run": { type: "boolean", summary: "show what would be done; change nothing" },
  ...FORMAT_OPTION,
} as const satisfies Options;

export type KeysCall = Call<typeof KEYS_OPTIONS>;
