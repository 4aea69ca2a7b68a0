import type { GuardedAccess, OpenAccess, Operation } from "./operation.ts";

/**
 * Every operation of the API (contract 1), by its id. An endpoint (src/http/endpoints/) exports the handler under that id, and
 * src/api/openapi/ describes the operation. A missing handler or description does not compile. The document has the same order.
 */

const EVERYBODY: OpenAccess = { by: "everybody" };
const METRICS: OpenAccess = { by: "metrics" };
const CONSOLE: OpenAccess = { by: "console" };
const BY_TOKEN: GuardedAccess = { by: "token" };
const BY_ADMIN: GuardedAccess = { by: "admin" };
const BY_ADMIN_SEALING: GuardedAccess = { by: "admin", seals: true };
/** The lists that a configuration is compared with (contract 8.20). */
const LIST_BY_ADMIN: GuardedAccess = { by: "admin", narrow: "adminRead" };

/** A token with a permission in the vault of the path; outside of its scope a 403. */
const READ: GuardedAccess = { by: "token", permission: "r", outside: "out_of_scope" };
const WRITE: GuardedAccess = { by: "token", permission: "w", outside: "out_of_scope" };
/** Operations that write and whose answer shows the Item, or that read values for writers only. */
const READ_WRITE: GuardedAccess = { by: "token", permission: "rw", outside: "out_of_scope" };
const DESTROY: GuardedAccess = { by: "token", permission: "d", outside: "out_of_scope" };
/** As READ, but 404 outside the scope (contract 4.7). */
const FIND: GuardedAccess = { by: "token", permission: "r", outside: "vault_not_found" };
/** The answer has no field but the user name, no File and no content. */
const LIST: GuardedAccess = { by: "token", permission: "l", outside: "out_of_scope" };
const LIST_IN_SESSION: GuardedAccess = { by: "session", permission: "l", outside: "out_of_scope" };

/** A write to an Item that exists. */
const CHANGE = { conditional: true, idempotent: true } as const;
/** A write to a deleted Item: no version of it is current, so the write is not conditional. */
const CHANGE_DELETED = { deleted: true, idempotent: true } as const;

/** Common attributes of the operations on a resource of the admin. */
const OF_TOKEN = { access: BY_ADMIN, resource: "TOKEN" } as const;
const OF_KEY = { access: BY_ADMIN, resource: "KEY" } as const;
const OF_JOB = { access: BY_ADMIN, resource: "JOB" } as const;
const OF_PERSON = { access: BY_ADMIN, resource: "PERSON" } as const;
const OF_ISSUER = { access: BY_ADMIN, resource: "ISSUER" } as const;
const OF_RULE = { access: BY_ADMIN, resource: "RULE" } as const;
const OF_WEBHOOK = { access: BY_ADMIN, resource: "WEBHOOK" } as const;
const OF_BACKUP = { access: BY_ADMIN, resource: "BACKUP", action: "UNLOGGED" } as const;
/** Operations that read the backups for a copy. */
const OF_COPY = { ...OF_BACKUP, access: { by: "admin", narrow: "backupsOnly" } } as const;

const VAULT = "/v1/vaults/:vault";
const ITEMS = `${VAULT}/items`;
const ITEM = `${ITEMS}/:item`;
const FILES = `${ITEM}/files`;
const FILE = `${FILES}/:file`;
const VERSIONS = `${ITEM}/versions`;
const VERSION = `${VERSIONS}/:version`;
const DELETED_ITEMS = `${VAULT}/deleted-items`;
const DELETED_ITEM = `${DELETED_ITEMS}/:item`;

const ADMIN_VAULTS = "/v1/admin/vaults";
const ADMIN_VAULT = `${ADMIN_VAULTS}/:vault`;
const ADMIN_TOKENS = "/v1/admin/tokens";
const ADMIN_TOKEN = `${ADMIN_TOKENS}/:token`;
const JOBS = "/v1/admin/jobs";
const JOB = `${JOBS}/:job`;
const PEOPLE = "/v1/admin/people";
const PERSON = `${PEOPLE}/:person`;
const ISSUERS = "/v1/admin/issuers";
const ISSUER = `${ISSUERS}/:issuer`;
const RULES = "/v1/admin/rules";
const RULE = `${RULES}/:rule`;
const WEBHOOKS = `${ADMIN_VAULT}/webhooks`;
const WEBHOOK = `${WEBHOOKS}/:webhook`;
const BACKUPS = "/v1/admin/backups";

export const OPERATIONS = {
  getOwnToken: { method: "GET", path: "/v1/token", access: BY_TOKEN, action: "UNLOGGED" },
  createChildToken: {
    method: "POST",
    path: "/v1/tokens",
    access: { by: "token", delegates: true, direct: true },
    resource: "TOKEN",
    action: "CREATE",
    json: true,
    idempotent: true,
  },
  listChildTokens: {
    method: "GET",
    path: "/v1/tokens",
    access: BY_TOKEN,
    resource: "TOKEN",
    action: "UNLOGGED",
  },
  revokeChildToken: {
    method: "DELETE",
    path: "/v1/tokens/:token",
    access: BY_TOKEN,
    resource: "TOKEN",
    action: "DELETE",
  },
  resolveReferences: { method: "POST", path: "/v1/resolve", access: BY_TOKEN, action: "READ", json: true, local: true },
  listVaults: { method: "GET", path: "/v1/vaults", access: BY_TOKEN, action: "READ", local: true },
  getVault: { method: "GET", path: VAULT, access: LIST, action: "READ", local: true },
  listActors: { method: "GET", path: `${VAULT}/actors`, access: LIST_IN_SESSION, action: "UNLOGGED" },
  listActivity: { method: "GET", path: "/v1/activity", access: BY_TOKEN, action: "UNLOGGED", local: true },

  listItems: { method: "GET", path: ITEMS, access: { ...LIST, outside: "vault_not_found" }, action: "READ", local: true },
  createItem: {
    method: "POST",
    path: ITEMS,
    access: { ...WRITE, whole: true },
    action: "CREATE",
    json: true,
    identified: true,
    idempotent: true,
    local: true,
  },
  getItem: { method: "GET", path: ITEM, access: READ, action: "READ", local: true },
  replaceItem: { method: "PUT", path: ITEM, access: READ_WRITE, action: "UPDATE", json: true, ...CHANGE, local: true },
  patchItem: { method: "PATCH", path: ITEM, access: READ_WRITE, action: "UPDATE", json: true, ...CHANGE, local: true },
  deleteItem: { method: "DELETE", path: ITEM, access: WRITE, action: "DELETE", ...CHANGE, local: true },
  archiveItem: { method: "POST", path: `${ITEM}/archive`, access: READ_WRITE, action: "UPDATE", ...CHANGE, local: true },
  unarchiveItem: { method: "POST", path: `${ITEM}/unarchive`, access: READ_WRITE, action: "UPDATE", ...CHANGE, local: true },

  listFiles: { method: "GET", path: FILES, access: FIND, action: "READ", local: true },
  uploadFile: { method: "POST", path: FILES, access: WRITE, action: "UPDATE", ...CHANGE, local: true },
  getFile: { method: "GET", path: FILE, access: READ, action: "READ", local: true },
  deleteFile: { method: "DELETE", path: FILE, access: WRITE, action: "UPDATE", ...CHANGE, local: true },
  getFileContent: { method: "GET", path: `${FILE}/content`, access: FIND, action: "READ", local: true },
  // Needs both permissions, because the answer contains the name of the File.
  replaceFileContent: { method: "PUT", path: `${FILE}/content`, access: READ_WRITE, action: "UPDATE", ...CHANGE, local: true },

  listVersions: { method: "GET", path: VERSIONS, access: LIST, action: "READ", local: true },
  getVersion: { method: "GET", path: VERSION, access: READ, action: "READ", local: true },
  restoreVersion: { method: "POST", path: `${VERSION}/restore`, access: READ_WRITE, action: "UPDATE", ...CHANGE, local: true },
  destroyVersion: { method: "DELETE", path: VERSION, access: DESTROY, action: "DELETE", idempotent: true, local: true },

  listDeletedItems: { method: "GET", path: DELETED_ITEMS, access: READ_WRITE, action: "READ", local: true },
  getDeletedItem: { method: "GET", path: DELETED_ITEM, access: READ_WRITE, action: "READ", deleted: true, local: true },
  destroyDeletedItem: { method: "DELETE", path: DELETED_ITEM, access: DESTROY, action: "DELETE", ...CHANGE_DELETED, local: true },
  restoreDeletedItem: {
    method: "POST",
    path: `${DELETED_ITEM}/restore`,
    access: READ_WRITE,
    action: "UPDATE",
    ...CHANGE_DELETED,
    local: true,
  },
  getDeletedFileContent: {
    method: "GET",
    path: `${DELETED_ITEM}/files/:file/content`,
    access: READ_WRITE,
    action: "READ",
    deleted: true,
    local: true,
  },

  listEvents: { method: "GET", path: `${VAULT}/events`, access: LIST, action: "READ", follows: true, local: true },
  streamAllEvents: { method: "GET", path: "/v1/events", access: BY_TOKEN, action: "UNLOGGED", follows: true, local: true },

  listAllVaults: { method: "GET", path: ADMIN_VAULTS, access: LIST_BY_ADMIN, action: "READ" },
  createVault: {
    method: "POST",
    path: ADMIN_VAULTS,
    access: BY_ADMIN_SEALING,
    action: "CREATE",
    json: true,
    idempotent: true,
  },
  updateVault: { method: "PATCH", path: ADMIN_VAULT, access: BY_ADMIN, action: "UPDATE", json: true, idempotent: true },
  renewVaultKey: {
    method: "POST",
    path: `${ADMIN_VAULT}/keys`,
    access: BY_ADMIN_SEALING,
    action: "UPDATE",
    json: true,
    idempotent: true,
  },
  deleteVault: { method: "DELETE", path: ADMIN_VAULT, access: BY_ADMIN, action: "DELETE", idempotent: true },

  listTokens: { method: "GET", path: ADMIN_TOKENS, ...OF_TOKEN, access: LIST_BY_ADMIN, action: "READ" },
  createToken: {
    method: "POST",
    path: ADMIN_TOKENS,
    ...OF_TOKEN,
    access: BY_ADMIN_SEALING,
    action: "CREATE",
    json: true,
    idempotent: true,
  },
  getToken: { method: "GET", path: ADMIN_TOKEN, ...OF_TOKEN, action: "READ" },
  listTokenActivity: { method: "GET", path: `${ADMIN_TOKEN}/activity`, ...OF_TOKEN, action: "UNLOGGED" },
  revokeToken: { method: "DELETE", path: ADMIN_TOKEN, ...OF_TOKEN, action: "DELETE" },

  listAdminActivity: { method: "GET", path: "/v1/admin/activity", access: BY_ADMIN, action: "UNLOGGED" },
  exportActivity: { method: "GET", path: "/v1/admin/activity/export", access: BY_ADMIN, action: "UNLOGGED" },

  getAdminHealth: { method: "GET", path: "/v1/admin/health", access: BY_ADMIN, action: "UNLOGGED" },

  listKeys: { method: "GET", path: "/v1/admin/keys", ...OF_KEY, action: "READ" },

  listJobs: { method: "GET", path: JOBS, ...OF_JOB, action: "UNLOGGED" },
  createJob: { method: "POST", path: JOBS, ...OF_JOB, action: "CREATE", json: true, idempotent: true },
  getJob: { method: "GET", path: JOB, ...OF_JOB, action: "UNLOGGED" },
  stopJob: { method: "DELETE", path: JOB, ...OF_JOB, action: "DELETE" },
  listJobFindings: { method: "GET", path: `${JOB}/findings`, ...OF_JOB, action: "UNLOGGED" },

  listPeople: { method: "GET", path: PEOPLE, ...OF_PERSON, access: LIST_BY_ADMIN, action: "READ" },
  addPerson: {
    method: "POST",
    path: PEOPLE,
    ...OF_PERSON,
    access: BY_ADMIN_SEALING,
    action: "CREATE",
    json: true,
    idempotent: true,
  },
  getPerson: { method: "GET", path: PERSON, ...OF_PERSON, action: "READ" },
  changePerson: { method: "PATCH", path: PERSON, ...OF_PERSON, access: BY_ADMIN_SEALING, action: "UPDATE", json: true },
  removePerson: { method: "DELETE", path: PERSON, ...OF_PERSON, action: "DELETE" },

  listIssuers: { method: "GET", path: ISSUERS, ...OF_ISSUER, access: LIST_BY_ADMIN, action: "READ" },
  createIssuer: {
    method: "POST",
    path: ISSUERS,
    ...OF_ISSUER,
    access: BY_ADMIN_SEALING,
    action: "CREATE",
    json: true,
    idempotent: true,
  },
  getIssuer: { method: "GET", path: ISSUER, ...OF_ISSUER, action: "READ" },
  deleteIssuer: { method: "DELETE", path: ISSUER, ...OF_ISSUER, action: "DELETE" },
  listRules: { method: "GET", path: RULES, ...OF_RULE, access: LIST_BY_ADMIN, action: "READ" },
  createRule: {
    method: "POST",
    path: RULES,
    ...OF_RULE,
    access: BY_ADMIN_SEALING,
    action: "CREATE",
    json: true,
    idempotent: true,
  },
  testRule: { method: "POST", path: `${RULES}/test`, ...OF_RULE, action: "READ", json: true },
  getRule: { method: "GET", path: RULE, ...OF_RULE, action: "READ" },
  deleteRule: { method: "DELETE", path: RULE, ...OF_RULE, action: "DELETE" },
  exchangeToken: { method: "POST", path: "/v1/token-exchange", access: EVERYBODY },

  listWebhooks: { method: "GET", path: WEBHOOKS, ...OF_WEBHOOK, access: LIST_BY_ADMIN, action: "READ" },
  createWebhook: { method: "POST", path: WEBHOOKS, ...OF_WEBHOOK, action: "CREATE", json: true, idempotent: true },
  getWebhook: { method: "GET", path: WEBHOOK, ...OF_WEBHOOK, action: "READ" },
  updateWebhook: { method: "PATCH", path: WEBHOOK, ...OF_WEBHOOK, action: "UPDATE", json: true, idempotent: true },
  testWebhook: { method: "POST", path: `${WEBHOOK}/test`, ...OF_WEBHOOK, action: "UPDATE" },
  listDeliveries: { method: "GET", path: `${WEBHOOK}/deliveries`, ...OF_WEBHOOK, action: "READ" },
  deleteWebhook: { method: "DELETE", path: WEBHOOK, ...OF_WEBHOOK, action: "DELETE" },

  listBackups: { method: "GET", path: BACKUPS, ...OF_COPY },
  listBackedUpVaults: { method: "GET", path: `${BACKUPS}/vaults`, ...OF_BACKUP },
  listVaultBackups: { method: "GET", path: `${BACKUPS}/vaults/:vault`, ...OF_COPY },
  listBackupObjects: { method: "GET", path: `${BACKUPS}/objects`, ...OF_COPY },
  getBackupObject: { method: "GET", path: `${BACKUPS}/object`, ...OF_COPY },
  putBackupObject: { method: "PUT", path: `${BACKUPS}/object`, ...OF_BACKUP },

  getSession: { method: "GET", path: "/console/session", access: CONSOLE },
  signIn: { method: "POST", path: "/console/session", access: CONSOLE, json: true },
  beginSignIn: { method: "POST", path: "/console/sign-ins", access: CONSOLE },
  signOut: { method: "DELETE", path: "/console/session", access: CONSOLE },
  createSignInCode: { method: "POST", path: "/v1/sign-in-codes", access: { by: "token", direct: true }, action: "UNLOGGED" },
  createAdminSignInCode: {
    method: "POST",
    path: "/v1/admin/sign-in-codes",
    access: { by: "admin", seals: true, secret: true, direct: true },
    action: "CREATE",
    resource: "SESSION",
  },

  createAuthorization: { method: "POST", path: "/console/authorizations", access: CONSOLE, json: true },
  createLoginCode: { method: "POST", path: "/console/login-codes", access: CONSOLE, json: true },
  redeemLogin: { method: "POST", path: "/v1/login/token", access: EVERYBODY, json: true },

  getHeartbeat: { method: "GET", path: "/heartbeat", access: EVERYBODY, local: true },
  getHealth: { method: "GET", path: "/health", access: EVERYBODY, local: true },
  getMetrics: { method: "GET", path: "/metrics", access: METRICS },
} as const satisfies Readonly<Record<string, Operation>>;

/** Other names of paths (contract 13.1): clients that add `/v1` to each path ask for them. */
export const ALIASES: ReadonlyMap<string, string> = new Map([
  ["/v1/heartbeat", OPERATIONS.getHeartbeat.path],
  ["/v1/health", OPERATIONS.getHealth.path],
]);

export type OperationId = keyof typeof OPERATIONS;
