import type { Options } from "../../frame/command.ts";
import { FORMAT_OPTION } from "../../output/format.ts";

/** Options of `admin backup`. */

export const BACKUP_OPTIONS = {
  vault: { type: "string", value: "VAULT", summary: "only this vault, by name or id" },
  to: { type: "string", value: "DIR", summary: "then copy what the folder lacks of the bucket of backups" },
  "copy-only": {
    type: "boolean",
    summary: "with --to: make no backup, and copy those that are there; a token for backups only will do",
  },
  full: { type: "boolean", summary: "write every part and look at every File, not only what has changed" },
  list: { type: "boolean", summary: "list the backups, or the snapshots of --vault" },
  vaults: { type: "boolean", summary: "list the vaults that the backups have, also deleted ones" },
  "dry-run": { type: "boolean", summary: "tell what would be backed up and copied, and change nothing" },
  ...FORMAT_OPTION,
} as const satisfies Options;
