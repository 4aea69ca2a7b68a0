import { type Command, command, type Options } from "../../frame/command.ts";

/** Options of `admin restore`. */

export const RESTORE_OPTIONS = {
  vault: { type: "string", value: "VAULT", summary: "only this vault, by id, or by name when it exists" },
  item: { type: "string", value: "ID", summary: "only this item of --vault" },
  snapshot: { type: "string", value: "N", summary: "this snapshot instead of the newest: of --vault, or of the deployment" },
  from: {
    type: "string",
    value: "DIR",
    summary: "first copy from this folder what the bucket lacks (of --vault)",
  },
  overwrite: { type: "boolean", summary: "replace --vault or --item; changes made since the snapshot are lost" },
  yes: { type: "boolean", short: "y", summary: "do not ask" },
  "dry-run": { type: "boolean", summary: "show what would be restored or refused; change nothing" },
} as const satisfies Options;

export const RESTORE_COMMANDS: readonly Command[] = [
  command({
    name: "admin restore",
    summary: "restore all vaults into an empty deployment, or one vault (admin)",
    args: "",
    options: RESTORE_OPTIONS,
    examples: [
      "item-vault admin restore --dry-run",
      "item-vault admin restore --from backup/",
      "item-vault admin restore --vault 3fa85f64-5717-4562-b3fc-2c963f66afa6",
    ],
    load: async () => ({ run: (await import("./restore.ts")).restore }),
  }),
] as readonly Command[];
