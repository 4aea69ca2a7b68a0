import type { Command } from "../frame/command.ts";
import { BACKUP_COMMANDS } from "./backup/table.ts";
import { DEPLOY_COMMANDS } from "./deploy/table.ts";
import { KEYS_COMMANDS } from "./keys/table.ts";
import { RESTORE_COMMANDS } from "./restore/table.ts";

/** Commands of the operator of the service; all of them are the admin's. */
export const ADMIN_COMMANDS: readonly Command[] = [...BACKUP_COMMANDS, ...DEPLOY_COMMANDS, ...KEYS_COMMANDS, ...RESTORE_COMMANDS];
