import type { Command } from "../frame/command.ts";
import { BACKUP_COMMANDS } from "./backup/table.ts";
import { RESTORE_COMMANDS } from "./restore/table.ts";

/** Commands of the operator of the service; all of them are the admin's. */
export const ADMIN_COMMANDS: readonly Command[] = [...BACKUP_COMMANDS, ...RESTORE_COMMANDS];
