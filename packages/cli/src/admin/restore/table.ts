import { type Command, command } from "../../frame/command.ts";
import { RESTORE_OPTIONS } from "./options.ts";

export const RESTORE_COMMANDS: readonly Command[] = [
  command({
    name: "admin restore",
    summary: "restore all vaults into an empty deployment, or one vault",
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
