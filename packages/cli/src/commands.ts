import { BACKUP_COMMANDS } from "./admin/backup/table.ts";
import { DEPLOY_COMMANDS } from "./admin/deploy/table.ts";
import { JOBS_COMMANDS } from "./admin/jobs/table.ts";
import { KEYS_COMMANDS } from "./admin/keys/table.ts";
import { RESTORE_COMMANDS } from "./admin/restore/table.ts";
import { VERIFY_DEPLOYMENT_COMMANDS } from "./admin/verify-deployment/table.ts";
import { VERIFY_COMMANDS } from "./admin/verify/table.ts";
import { APPLY_COMMANDS } from "./apply/table.ts";
import { FILE_COMMANDS } from "./files/table.ts";
import type { Command } from "./frame/command.ts";
import { ITEM_COMMANDS } from "./items/table.ts";
import { CHANGES_COMMANDS, LOG_COMMANDS } from "./logs/table.ts";
import { READ_COMMANDS } from "./read/table.ts";
import { RUN_COMMANDS } from "./run/table.ts";
import { SERVE_COMMANDS } from "./serve/table.ts";
import { SERVER_COMMANDS } from "./server/table.ts";
import { SETTINGS_COMMANDS } from "./settings/table.ts";
import { ACCESS_COMMANDS, PERSON_COMMANDS, TOKEN_COMMANDS } from "./tokens/table.ts";
import { RULE_COMMANDS } from "./tokens/workload-table.ts";
import { TRANSFER_COMMANDS } from "./transfer/table.ts";
import { VAULT_COMMANDS } from "./vaults/table.ts";
import { WORKLOAD_COMMANDS } from "./workload/table.ts";

/** Commands of the operator of the service; all of them are the admin's. */
const ADMIN_COMMANDS: readonly Command[] = [
  ...DEPLOY_COMMANDS,
  ...KEYS_COMMANDS,
  ...JOBS_COMMANDS,
  ...BACKUP_COMMANDS,
  ...RESTORE_COMMANDS,
  ...VERIFY_COMMANDS,
  ...VERIFY_DEPLOYMENT_COMMANDS,
  ...ACCESS_COMMANDS,
  ...CHANGES_COMMANDS,
];

/** Every command, in the order of the help. Each folder has its own table. */
export const COMMANDS: readonly Command[] = [
  ...READ_COMMANDS,
  ...RUN_COMMANDS,
  ...SERVE_COMMANDS,
  ...SERVER_COMMANDS,
  ...ITEM_COMMANDS,
  ...FILE_COMMANDS,
  ...VAULT_COMMANDS,
  ...TOKEN_COMMANDS,
  ...WORKLOAD_COMMANDS,
  ...RULE_COMMANDS,
  ...PERSON_COMMANDS,
  ...APPLY_COMMANDS,
  ...LOG_COMMANDS,
  ...TRANSFER_COMMANDS,
  ...ADMIN_COMMANDS,
  ...SETTINGS_COMMANDS,
];
