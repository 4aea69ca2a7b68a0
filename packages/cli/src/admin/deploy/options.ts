import type { Options } from "../../frame/command.ts";

/** Options of `admin deploy`. */

export const DEPLOY_OPTIONS = {
  "dry-run": { type: "boolean", summary: "show the plan and change nothing" },
  secrets: { type: "string", value: "FILE", summary: "the file of the secrets, by default production.vars" },
  from: {
    type: "string",
    value: "FOLDER",
    summary: "deploy the wrangler.toml of this folder: an unpacked release, or a checkout",
  },
  url: { type: "string", value: "URL", summary: "the address of the deployment, instead of the one that wrangler reports" },
  wait: { type: "string", value: "TIME", summary: "how long to wait for /health, by default 60s" },
  yes: { type: "boolean", short: "y", summary: "do not ask" },
} as const satisfies Options;
