import { type Command, command, type Options } from "../../frame/command.ts";
import { FORMAT_OPTION } from "../../output/format.ts";

/** Options of `admin jobs`. */

export const JOBS_OPTIONS = FORMAT_OPTION satisfies Options;

/** The command of long jobs. */

export const JOBS_COMMANDS: readonly Command[] = [
  command({
    name: "admin jobs",
    summary: "list the long jobs of the service, show one, or stop it (admin)",
    args: "[list|show|stop] [job]",
    options: JOBS_OPTIONS,
    examples: [
      "item-vault admin jobs",
      "item-vault admin jobs show 3fa85f64-5717-4562-b3fc-2c963f66afa6",
      "item-vault admin jobs stop 3fa85f64-5717-4562-b3fc-2c963f66afa6",
    ],
    load: () => import("./jobs.ts"),
  }),
] as readonly Command[];
