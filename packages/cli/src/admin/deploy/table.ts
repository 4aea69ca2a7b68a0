import { type Command, command } from "../../frame/command.ts";
import { DEPLOY_OPTIONS } from "./options.ts";

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
