import type { Command } from "./frame/command.ts";
import { READ_COMMANDS } from "./read/table.ts";
import { TRANSFER_COMMANDS } from "./transfer/table.ts";

/** Every command, in the order of the help. Each folder has its own table. */
export const COMMANDS: readonly Command[] = [...READ_COMMANDS, ...TRANSFER_COMMANDS];
