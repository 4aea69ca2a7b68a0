import type { Command } from "../frame/command.ts";
import { VERIFY_COMMANDS } from "./verify/table.ts";

/** Commands of the operator of the service; all of them are the admin's. */
export const ADMIN_COMMANDS: readonly Command[] = [...VERIFY_COMMANDS];
