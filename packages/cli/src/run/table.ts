import { type Command, command } from "../frame/command.ts";
import { RUN_OPTIONS } from "./options.ts";

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
