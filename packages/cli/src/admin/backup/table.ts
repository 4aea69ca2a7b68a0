import { type Command, command } from "../../frame/command.ts";
import { BACKUP_OPTIONS } from "./options.ts";

export const BACKUP_COMMANDS: readonly Command[] = [
  command({
    name: "admin backup",
    summary: "back up all vaults into the bucket of backups",
    args: "",
    options: BACKUP_OPTIONS,
    examples: [
      "item-vault admin backup",
      "item-vault admin backup --to backup/",
      "item-vault admin backup --list",
      "item-vault admin backup --vaults",
    ],
    load: async () => ({ run: (await import("./backup.ts")).backup }),
  }),
] as readonly Command[];
