import { FALLBACK_OPTIONS } from "../fallback/options.ts";
import { type Command, command, type Options } from "../frame/command.ts";

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

/** The command that runs other commands with secrets. */

export const RUN_COMMANDS = [
  command({
    name: "run",
    summary: "run a command with secrets in its environment",
    args: "",
    rest: true,
    options: RUN_OPTIONS,
    examples: ["item-vault run --env .env -- npm start", "DB_PASSWORD=op://dev/db/password item-vault run -- ./server"],
    load: () => import("./run.ts"),
  }),
] as readonly Command[];
