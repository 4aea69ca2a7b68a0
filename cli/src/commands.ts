import type { Command } from "./frame/command.ts";
import { READ_COMMANDS } from "./read/table.ts";
import { RUN_COMMANDS } from "./run/table.ts";
import { SETTINGS_COMMANDS } from "./settings/table.ts";

/** Every command, in the order of the help. Each folder has its own table. */
export const COMMANDS: readonly Command[] = [...READ_COMMANDS, ...RUN_COMMANDS, ...SETTINGS_COMMANDS];
