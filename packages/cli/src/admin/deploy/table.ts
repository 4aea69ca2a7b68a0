import { type Command, command, type Options } from "../../frame/command.ts";

/** Options of `admin deploy`. */

export const DEPLOY_OPTIONS = {
  "dry-run": { type: "boolean", summary: "show the steps and change nothing" },
  secrets: { type: "string", value: "FILE", summary: "the file of the secrets, by default production.vars" },
  from: {
    type: "string",
    value: "FOLDER",
    summary: "deploy the wrangler.toml of this folder: an unpacked release, or a checkout",
  },
  url: { type: "string", value: "URL", summary: "the address of the deployment, instead of the one that wrangler reports" },
  wait: { type: "string", value: "TIME", summary: "how long to wait for /health, by default 60s" },
  "new-database": { type: "boolean", summary: "create an empty database or bucket in place of one that is gone" },
  yes: { type: "boolean", short: "y", summary: "do not ask" },
} as const satisfies Options;

/** The command that deploys the service. */

export const DEPLOY_COMMANDS = [
  command({
    name: "admin deploy",
    summary: "create or update the deployment in your Cloudflare account",
    args: "",
    options: DEPLOY_OPTIONS,
    examples: ["item-vault admin deploy --dry-run", "item-vault admin deploy"],
    load: () => import("./deploy.ts"),
  }),
] as readonly Command[];
