import type { Command } from "../frame/command.ts";
import { BACKUP_COMMANDS } from "./backup/table.ts";
import { DEPLOY_COMMANDS } from "./deploy/table.ts";
import { JOBS_COMMANDS } from "./jobs/table.ts";
import { KEYS_COMMANDS } from "./keys/table.ts";
import { RESTORE_COMMANDS } from "./restore/table.ts";
import { VERIFY_COMMANDS } from "./verify/table.ts";
import { VERIFY_DEPLOYMENT_COMMANDS } from "./verify-deployment/table.ts";

/** Commands of the operator of the service; all of them are the admin's. */
export const ADMIN_COMMANDS: readonly Command[] = [
  ...DEPLOY_COMMANDS,
  ...KEYS_COMMANDS,
  ...JOBS_COMMANDS,
  ...BACKUP_COMMANDS,
  ...RESTORE_COMMANDS,
  ...VERIFY_COMMANDS,
  ...VERIFY_DEPLOYMENT_COMMANDS,
];
