import { ADMIN_COMMANDS } from "./admin/table.ts";
import type { Command } from "./frame/command.ts";
import { FILE_COMMANDS } from "./files/table.ts";
import { ITEM_COMMANDS } from "./items/table.ts";
import { LOG_COMMANDS } from "./logs/table.ts";
import { READ_COMMANDS } from "./read/table.ts";
import { RUN_COMMANDS } from "./run/table.ts";
import { SERVE_COMMANDS } from "./serve/table.ts";
import { SETTINGS_COMMANDS } from "./settings/table.ts";
import { PERSON_COMMANDS } from "./tokens/people-table.ts";
import { TOKEN_COMMANDS } from "./tokens/table.ts";
import { RULE_COMMANDS } from "./tokens/workload-table.ts";
import { TRANSFER_COMMANDS } from "./transfer/table.ts";
import { VAULT_COMMANDS } from "./vaults/table.ts";
import { WORKLOAD_COMMANDS } from "./workload/table.ts";

/** Every command, in the order of the help. Each folder has its own table. */
export const COMMANDS: readonly Command[] = [
  ...READ_COMMANDS,
  ...RUN_COMMANDS,
  ...SERVE_COMMANDS,
  ...ITEM_COMMANDS,
  ...FILE_COMMANDS,
  ...VAULT_COMMANDS,
  ...TOKEN_COMMANDS,
  ...WORKLOAD_COMMANDS,
  ...RULE_COMMANDS,
  ...PERSON_COMMANDS,
  ...LOG_COMMANDS,
  ...TRANSFER_COMMANDS,
  ...ADMIN_COMMANDS,
  ...SETTINGS_COMMANDS,
];
