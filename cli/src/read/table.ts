import { type Command, command, type Options } from "../frame/command.ts";

/** Commands that read secrets by reference. */

export const READ_OPTIONS = {
  "no-newline": { type: "boolean", short: "n", summary: "print no newline after the value" },
} as const satisfies Options;

export const READ_COMMANDS: readonly Command[] = [
  command({
    name: "read",
    summary: "print the value of a reference",
    args: "<reference>",
    options: READ_OPTIONS,
    examples: ["item-vault read op://Production/Database/password"],
    load: () => import("./read.ts"),
  }),
] as readonly Command[];
