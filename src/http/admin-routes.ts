import { listAdminActivity } from "./endpoints/activity.ts";
import { createJob, getJob, listFindings, listJobs, pauseJob, resumeJob, stopJob } from "./endpoints/admin-jobs.ts";
import { listKeys } from "./endpoints/admin-keys.ts";
import { exportActivity } from "./endpoints/activity-export.ts";
import {
  getBackupObject,
  listBackedUpVaults,
  listBackupObjects,
  listBackups,
  listVaultBackups,
} from "./endpoints/admin-backups.ts";
import { createToken, getToken, listTokens, revokeToken } from "./endpoints/admin-tokens.ts";
import { createVault, deleteVault, listAllVaults, updateVault } from "./endpoints/admin-vaults.ts";
import { putBackupObject } from "./endpoints/admin-backup-objects.ts";
import { addPerson, changePerson, getPerson, listPeople, removePerson } from "./endpoints/admin-people.ts";
import { createWebhook, deleteWebhook, getWebhook, listWebhooks, updateWebhook } from "./endpoints/admin-webhooks.ts";
import { createAdminCode } from "./endpoints/sign-in.ts";
import { type Access, parse, type Route, row } from "./route.ts";

/** The routes of the admin (contract 13, 17, 20, 25 and 26), a part of the table in routes.ts. */

const BY_ADMIN: Access = { by: "admin" };
const BY_ADMIN_SEALING: Access = { by: "admin", seals: true };

const ADMIN_VAULTS = "/v1/admin/vaults";
const ADMIN_VAULT = `${ADMIN_VAULTS}/:vault`;
const ADMIN_TOKENS = "/v1/admin/tokens";
const ADMIN_TOKEN = `${ADMIN_TOKENS}/:token`;
const TOKEN = "TOKEN";
const PEOPLE = "/v1/admin/people";
const PERSON = `${PEOPLE}/:person`;
const KEYS = "/v1/admin/keys";
const JOBS = "/v1/admin/jobs";
const JOB = `${JOBS}/:job`;
const WEBHOOKS = `${ADMIN_VAULT}/webhooks`;
const WEBHOOK = `${WEBHOOKS}/:webhook`;

const BACKUPS = "/v1/admin/backups";
const VAULT_BACKUPS = `${BACKUPS}/vaults/:vault`;

/** What the routes of backups have in common. */
const BY_ADMIN_OF_BACKUP = { access: BY_ADMIN, resource: "BACKUP", action: "UNLOGGED" } as const;

/** What the routes of people have in common. */
const BY_ADMIN_OF_PERSON = { access: BY_ADMIN, resource: "PERSON" } as const;
const SEALING_PERSON = { access: BY_ADMIN_SEALING, resource: "PERSON", json: true } as const;

/** What the routes of jobs have in common. */
const BY_ADMIN_OF_JOB = { access: BY_ADMIN, resource: "JOB", action: "UNLOGGED" } as const;

/** What the routes of webhooks have in common. */
const BY_ADMIN_OF_WEBHOOK = { access: BY_ADMIN, resource: "WEBHOOK" } as const;

export const ADMIN_ROUTES: readonly Route[] = [
  row({ method: "GET", path: ADMIN_VAULTS, access: BY_ADMIN, action: "READ", parse, handle: listAllVaults }),
  row({
    method: "POST",
    path: ADMIN_VAULTS,
    access: BY_ADMIN_SEALING,
    action: "CREATE",
    json: true,
    idempotent: true,
    ...createVault,
  }),
  row({
    method: "PATCH",
    path: ADMIN_VAULT,
    access: BY_ADMIN,
    action: "UPDATE",
    json: true,
    idempotent: true,
    ...updateVault,
  }),
  row({ method: "DELETE", path: ADMIN_VAULT, access: BY_ADMIN, action: "DELETE", idempotent: true, ...deleteVault }),
  row({ method: "GET", path: ADMIN_TOKENS, access: BY_ADMIN, action: "READ", resource: TOKEN, parse, handle: listTokens }),
  row({
    method: "POST",
    path: ADMIN_TOKENS,
    access: BY_ADMIN_SEALING,
    action: "CREATE",
    resource: TOKEN,
    json: true,
    idempotent: true,
    ...createToken,
  }),
  row({ method: "GET", path: ADMIN_TOKEN, access: BY_ADMIN, action: "READ", resource: TOKEN, parse, handle: getToken }),
  row({ method: "DELETE", path: ADMIN_TOKEN, access: BY_ADMIN, action: "DELETE", resource: TOKEN, parse, handle: revokeToken }),
  row({ method: "GET", path: PEOPLE, ...BY_ADMIN_OF_PERSON, action: "READ", parse, handle: listPeople }),
  row({ method: "POST", path: PEOPLE, ...SEALING_PERSON, action: "CREATE", idempotent: true, ...addPerson }),
  row({ method: "GET", path: PERSON, ...BY_ADMIN_OF_PERSON, action: "READ", parse, handle: getPerson }),
  row({ method: "PATCH", path: PERSON, ...SEALING_PERSON, action: "UPDATE", ...changePerson }),
  row({ method: "DELETE", path: PERSON, ...BY_ADMIN_OF_PERSON, action: "DELETE", parse, handle: removePerson }),
  row({ method: "GET", path: WEBHOOKS, ...BY_ADMIN_OF_WEBHOOK, action: "READ", parse, handle: listWebhooks }),
  row({
    method: "POST",
    path: WEBHOOKS,
    ...BY_ADMIN_OF_WEBHOOK,
    action: "CREATE",
    json: true,
    idempotent: true,
    ...createWebhook,
  }),
  row({ method: "GET", path: WEBHOOK, ...BY_ADMIN_OF_WEBHOOK, action: "READ", parse, handle: getWebhook }),
  row({
    method: "PATCH",
    path: WEBHOOK,
    ...BY_ADMIN_OF_WEBHOOK,
    action: "UPDATE",
    json: true,
    idempotent: true,
    ...updateWebhook,
  }),
  row({ method: "DELETE", path: WEBHOOK, ...BY_ADMIN_OF_WEBHOOK, action: "DELETE", parse, handle: deleteWebhook }),
  row({ method: "GET", path: KEYS, access: BY_ADMIN, action: "READ", resource: "KEY", parse, handle: listKeys }),
  row({ method: "GET", path: JOBS, ...BY_ADMIN_OF_JOB, ...listJobs }),
  row({ method: "POST", path: JOBS, ...BY_ADMIN_OF_JOB, action: "CREATE", json: true, idempotent: true, ...createJob }),
  row({ method: "GET", path: JOB, ...BY_ADMIN_OF_JOB, ...getJob }),
  row({ method: "DELETE", path: JOB, ...BY_ADMIN_OF_JOB, action: "DELETE", parse, handle: stopJob }),
  row({ method: "POST", path: `${JOB}/pause`, ...BY_ADMIN_OF_JOB, action: "UPDATE", parse, handle: pauseJob }),
  row({ method: "POST", path: `${JOB}/resume`, ...BY_ADMIN_OF_JOB, action: "UPDATE", parse, handle: resumeJob }),
  row({ method: "GET", path: `${JOB}/findings`, ...BY_ADMIN_OF_JOB, ...listFindings }),
  row({
    method: "POST",
    path: "/v1/admin/sign-in-codes",
    access: { by: "admin", seals: true, direct: true },
    action: "CREATE",
    resource: "SESSION",
    parse,
    handle: createAdminCode,
  }),
  row({ method: "GET", path: BACKUPS, ...BY_ADMIN_OF_BACKUP, parse, handle: listBackups }),
  row({ method: "GET", path: `${BACKUPS}/vaults`, ...BY_ADMIN_OF_BACKUP, ...listBackedUpVaults }),
  row({ method: "GET", path: VAULT_BACKUPS, ...BY_ADMIN_OF_BACKUP, parse, handle: listVaultBackups }),
  row({ method: "GET", path: `${BACKUPS}/objects`, ...BY_ADMIN_OF_BACKUP, ...listBackupObjects }),
  row({ method: "GET", path: `${BACKUPS}/object`, ...BY_ADMIN_OF_BACKUP, ...getBackupObject }),
  row({ method: "PUT", path: `${BACKUPS}/object`, ...BY_ADMIN_OF_BACKUP, ...putBackupObject }),
  row({ method: "GET", path: "/v1/admin/activity", access: BY_ADMIN, action: "UNLOGGED", ...listAdminActivity }),
  row({ method: "GET", path: "/v1/admin/activity/export", access: BY_ADMIN, action: "UNLOGGED", ...exportActivity }),
];
