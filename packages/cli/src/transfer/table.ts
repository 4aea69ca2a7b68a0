import { type Command, command } from "../frame/command.ts";
import { EXPORT_OPTIONS, IMPORT_OPTIONS } from "./options.ts";

/** Commands that move Items between services and programs. */

export const TRANSFER_COMMANDS: readonly Command[] = [
  command({
    name: "import",
    summary: "import items from another program or service",
    args: "[file]",
    options: IMPORT_OPTIONS,
    examples: [
      "item-vault import export.1pux --dry-run",
      "item-vault import export.1pux --vault Production",
      "item-vault import --from-connect https://connect.example.com --create-vaults",
    ],
    load: () => import("./import.ts"),
  }),
  command({
    name: "export",
    summary: "export items to a file, in clear",
    args: "",
    options: EXPORT_OPTIONS,
    examples: [
      "item-vault export --format item-vault -o backup.json",
      "item-vault export --vault Production --format 1pux -o production.1pux",
    ],
    load: () => import("./export.ts"),
  }),
] as readonly Command[];
