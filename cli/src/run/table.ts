import { FALLBACK_OPTIONS } from "../fallback/resolve.ts";
import { type Command, command, type Options } from "../frame/command.ts";

/** The command that runs other commands with secrets. */

export const RUN_OPTIONS = {
  "env-file": {
    type: "string",
    multiple: true,
    value: "FILE",
    summary: "read variables from a .env file; may be given several times",
  },
  watch: { type: "boolean", summary: "start the command again when one of its secrets has changed" },
  "no-masking": { type: "boolean", summary: "do not mask the secrets in the output, which then stays a terminal" },
  ...FALLBACK_OPTIONS,
} as const satisfies Options;

export const RUN_COMMANDS = [
  command({
    name: "run",
    summary: "run a command with the references in its environment replaced by their values",
    args: "",
    rest: true,
    options: RUN_OPTIONS,
    examples: ["item-vault run --env-file .env -- npm start", "DB_PASSWORD=op://dev/db/password item-vault run -- ./server"],
    load: () => import("./run.ts"),
  }),
] as readonly Command[];
