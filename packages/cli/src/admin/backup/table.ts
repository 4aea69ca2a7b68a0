import { type Command, command, type Options } from "../../frame/command.ts";
import { FORMAT_OPTION } from "../../output/format.ts";

/** Options of `admin backup`. */

export const BACKUP_OPTIONS = {
  vault: { type: "string", value: "VAULT", summary: "only this vault, by name or id" },
  to: { type: "string", value: "DIR", summary: "then copy what the folder lacks from the bucket" },
  "copy-only": {
    type: "boolean",
    summary: "with --to: copy existing backups without making one; a --backups-only token is enough",
  },
  full: { type: "boolean", summary: "write everything again and check every file" },
  list: { type: "boolean", summary: "list the backups, or the snapshots of --vault" },
  vaults: { type: "boolean", summary: "list the vaults in the backups, including deleted ones" },
  "dry-run": { type: "boolean", summary: "with --to: show which existing backups would be copied; change nothing" },
  ...FORMAT_OPTION,
} as const satisfies Options;

export const BACKUP_COMMANDS: readonly Command[] = [
  command({
    name: "admin backup",
    summary: "back up all vaults into the bucket of backups (admin)",
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
