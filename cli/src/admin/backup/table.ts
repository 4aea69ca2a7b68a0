import { type Command, command, type Options } from "../../frame/command.ts";
import { FORMAT_OPTION } from "../../output/format.ts";

export const BACKUP_OPTIONS = {
  vault: { type: "string", value: "VAULT", summary: "only this vault, by name or id" },
  to: { type: "string", value: "DIR", summary: "then copy what the folder lacks of the bucket of backups" },
  full: { type: "boolean", summary: "read everything, not only what has changed" },
  list: { type: "boolean", summary: "list the backups, or the snapshots of --vault" },
  vaults: { type: "boolean", summary: "list the vaults that the backups have, also deleted ones" },
  "dry-run": { type: "boolean", summary: "tell what would be read and copied, and change nothing" },
  ...FORMAT_OPTION,
} as const satisfies Options;

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
