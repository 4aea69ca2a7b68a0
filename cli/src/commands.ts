import type { Command } from "./frame/command.ts";
import { ITEM_COMMANDS } from "./items/table.ts";
import { READ_COMMANDS } from "./read/table.ts";

/** Every command, in the order of the help. Each folder has its own table. */
export const COMMANDS: readonly Command[] = [...READ_COMMANDS, ...ITEM_COMMANDS];
