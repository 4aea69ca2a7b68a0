import type { Options } from "../../frame/command.ts";

/** Options of `admin restore`. */

export const RESTORE_OPTIONS = {
  vault: { type: "string", value: "VAULT", summary: "only this vault, by id, or by name when it exists" },
  item: { type: "string", value: "ID", summary: "only this Item of --vault" },
  snapshot: { type: "string", value: "N", summary: "this snapshot instead of the newest: of --vault, or of the deployment" },
  from: {
    type: "string",
    value: "DIR",
    summary: "first copy what the bucket of backups lacks of the folder (of --vault)",
  },
  overwrite: { type: "boolean", summary: "replace --vault or --item although it was changed since its snapshot" },
  yes: { type: "boolean", short: "y", summary: "do not ask" },
  "dry-run": { type: "boolean", summary: "tell what would be restored and what is refused, and change nothing" },
} as const satisfies Options;
