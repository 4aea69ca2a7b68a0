import type { Options } from "../../frame/command.ts";

/** Options of `admin verify-deployment`. */

export const VERIFY_DEPLOYMENT_OPTIONS = {
  release: { type: "string", value: "FILE", summary: "the release.json to compare with, by default that of the folder" },
  from: {
    type: "string",
    value: "FOLDER",
    summary: "the folder of the wrangler.toml: an unpacked release, or a checkout; by default as for `admin deploy`",
  },
  worker: { type: "string", value: "NAME", summary: "the name of the Worker, by default that of wrangler.toml" },
  format: { type: "string", value: "FORMAT", summary: "table (default) or json", choices: ["table", "json"] },
} as const satisfies Options;
