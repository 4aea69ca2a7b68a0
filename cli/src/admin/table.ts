import type { Command } from "../frame/command.ts";
import { DEPLOY_COMMANDS } from "./deploy/table.ts";
import { KEYS_COMMANDS } from "./keys/table.ts";

/** Commands of the operator of the service; all of them are the admin's. */
export const ADMIN_COMMANDS: readonly Command[] = [...DEPLOY_COMMANDS, ...KEYS_COMMANDS];
