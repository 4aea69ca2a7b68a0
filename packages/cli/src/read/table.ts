import { FALLBACK_OPTIONS } from "../fallback/options.ts";
import { type Command, command, type Options } from "../frame/command.ts";
import { FILE_OPTIONS } from "../frame/output-file.ts";

/** Options of the commands that read secrets by reference. */

export const READ_OPTIONS = {
  "no-newline": { type: "boolean", short: "n", summary: "do not print a newline after the value" },
  ...FILE_OPTIONS,
} as const satisfies Options;

export const INJECT_OPTIONS = {
  "in-file": { type: "string", short: "i", value: "FILE", summary: "the template (default: stdin)" },
  ...FILE_OPTIONS,
  ...FALLBACK_OPTIONS,
} as const satisfies Options;

/** Commands that read secrets by reference. */

export const READ_COMMANDS = [
  command({
    name: "read",
    summary: "print a secret by its reference",
    args: "<reference>",
    options: READ_OPTIONS,
    examples: ["item-vault read op://Production/Database/password", "item-vault read -o key.pem op://Production/Server/key.pem"],
    load: () => import("./read.ts"),
  }),
  command({
    name: "inject",
    summary: "fill in a template with secrets",
    args: "",
    options: INJECT_OPTIONS,
    examples: [
      "item-vault inject -i config.yml.tpl -o config.yml",
      "echo 'password: {{ op://dev/db/password }}' | item-vault inject",
    ],
    load: () => import("./inject.ts"),
  }),
] as readonly Command[];
