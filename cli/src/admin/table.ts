import type { Command } from "../frame/command.ts";
import { KEYS_COMMANDS } from "./keys/table.ts";

/** Commands of the operator of the service; all of them are the admin's. */
export const ADMIN_COMMANDS: readonly Command[] = [...KEYS_COMMANDS];
