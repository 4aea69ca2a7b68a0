import { type Command, command } from "../frame/command.ts";
import { INJECT_OPTIONS, READ_OPTIONS } from "./options.ts";

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
