import type { Permission } from "../model/permission.ts";
import { ADMIN_ROUTES } from "./admin-routes.ts";
import { listActivity } from "./endpoints/activity.ts";
import { streamAllEvents } from "./endpoints/all-events.ts";
import { archiveItem, createItem, deleteItem, getItem, patchItem, replaceItem, unarchiveItem } from "./endpoints/items.ts";
import { destroyItem, getDeletedContent, getDeletedItem, listDeletedItems, restoreItem } from "./endpoints/deleted-items.ts";
import { listEvents } from "./endpoints/events.ts";
import { removeFile, replaceFileContent, uploadFile } from "./endpoints/file-writes.ts";
import { getContent, getFile, listFiles } from "./endpoints/files.ts";
import { health, heartbeat } from "./endpoints/health.ts";
import { listItems } from "./endpoints/item-list.ts";
import { metrics } from "./endpoints/metrics.ts";
import { resolve } from "./endpoints/resolve.ts";
import { getSession, signIn, signOut } from "./endpoints/session.ts";
import { createOwnCode } from "./endpoints/sign-in.ts";
import { getOwnToken } from "./endpoints/token.ts";
import { getVault, listVaults } from "./endpoints/vaults.ts";
import { destroyVersion, getVersion, listVersions, restoreVersion } from "./endpoints/versions.ts";
import { type Access, type OpenRoute, parse, type Route, row } from "./route.ts";

/** The table of routes: the whole API (contract 1). The routes of the admin are in admin-routes.ts. */

export const OPEN_ROUTES: readonly OpenRoute[] = [
  { method: "GET", path: "/heartbeat", open: heartbeat },
  { method: "GET", path: "/health", open: health },
  { method: "GET", path: "/metrics", open: metrics },
  { method: "GET", path: "/console/session", open: getSession },
  { method: "POST", path: "/console/session", open: signIn },
  { method: "DELETE", path: "/console/session", open: signOut },
];

const BY_TOKEN: Access = { by: "token" };
const DIRECT: Access = { by: "token", direct: true };

/** A token with a permission in the vault of the path; outside of its scope a 403. */
const may = (permission: Permission): Access => ({ by: "token", permission, outside: "out_of_scope" });
/** As `may("r")`, with a 404 outside of the scope. */
const MAY_FIND: Access = { by: "token", permission: "r", outside: "vault_not_found" };

/** What the writes of tokens read besides their body. */
const WRITE = { conditional: true, idempotent: true } as const;

/** What a POST of an Item reads besides its body. */
const NEW_ITEM = { identified: true, idempotent: true } as const;

/** What the writes to deleted Items read: no version of them is current, so they are not conditional. */
const DELETED = { deleted: true, idempotent: true } as const;

const VAULT = "/v1/vaults/:vault";
const ITEMS = `${VAULT}/items`;
const ITEM = `${ITEMS}/:item`;
const FILES = `${ITEM}/files`;
const FILE = `${FILES}/:file`;
const VERSIONS = `${ITEM}/versions`;
const VERSION = `${VERSIONS}/:version`;
const DELETED_ITEMS = `${VAULT}/deleted-items`;
const DELETED_ITEM = `${DELETED_ITEMS}/:item`;

export const ROUTES: readonly Route[] = [
  row({ method: "GET", path: "/v1/activity", access: BY_TOKEN, action: "UNLOGGED", ...listActivity }),
  row({ method: "GET", path: "/v1/events", access: BY_TOKEN, action: "UNLOGGED", ...streamAllEvents }),
  row({ method: "GET", path: "/v1/token", access: BY_TOKEN, action: "UNLOGGED", parse, handle: getOwnToken }),
  row({ method: "POST", path: "/v1/sign-in-codes", access: DIRECT, action: "UNLOGGED", parse, handle: createOwnCode }),
  row({ method: "POST", path: "/v1/resolve", access: BY_TOKEN, action: "READ", json: true, ...resolve }),
  row({ method: "GET", path: "/v1/vaults", access: BY_TOKEN, action: "READ", ...listVaults }),
  row({ method: "GET", path: VAULT, access: may("r"), action: "READ", parse, handle: getVault }),
  row({ method: "GET", path: `${VAULT}/events`, access: may("r"), action: "READ", ...listEvents }),

  row({ method: "GET", path: ITEMS, access: MAY_FIND, action: "READ", ...listItems }),
  row({ method: "POST", path: ITEMS, access: may("w"), action: "CREATE", json: true, ...NEW_ITEM, ...createItem }),
  row({ method: "GET", path: ITEM, access: may("r"), action: "READ", parse, handle: getItem }),
  row({ method: "PUT", path: ITEM, access: may("rw"), action: "UPDATE", json: true, ...WRITE, ...replaceItem }),
  row({ method: "PATCH", path: ITEM, access: may("rw"), action: "UPDATE", json: true, ...WRITE, ...patchItem }),
  row({ method: "DELETE", path: ITEM, access: may("w"), action: "DELETE", ...WRITE, ...deleteItem }),

  row({ method: "GET", path: FILES, access: MAY_FIND, action: "READ", ...listFiles }),
  row({ method: "POST", path: FILES, access: may("w"), action: "UPDATE", ...WRITE, ...uploadFile }),
  row({ method: "GET", path: FILE, access: may("r"), action: "READ", ...getFile }),
  row({ method: "DELETE", path: FILE, access: may("w"), action: "UPDATE", ...WRITE, ...removeFile }),
  row({ method: "GET", path: `${FILE}/content`, access: MAY_FIND, action: "READ", ...getContent }),
  // Needs both permissions, because the answer contains the name of the File.
  row({ method: "PUT", path: `${FILE}/content`, access: may("rw"), action: "UPDATE", ...WRITE, ...replaceFileContent }),

  row({ method: "POST", path: `${ITEM}/archive`, access: may("rw"), action: "UPDATE", ...WRITE, ...archiveItem }),
  row({ method: "POST", path: `${ITEM}/unarchive`, access: may("rw"), action: "UPDATE", ...WRITE, ...unarchiveItem }),

  row({ method: "GET", path: VERSIONS, access: may("r"), action: "READ", ...listVersions }),
  row({ method: "GET", path: VERSION, access: may("r"), action: "READ", parse, handle: getVersion }),
  row({ method: "POST", path: `${VERSION}/restore`, access: may("rw"), action: "UPDATE", ...WRITE, ...restoreVersion }),
  row({ method: "DELETE", path: VERSION, access: may("d"), action: "DELETE", idempotent: true, ...destroyVersion }),

  row({ method: "GET", path: DELETED_ITEMS, access: may("rw"), action: "READ", ...listDeletedItems }),
  row({ method: "GET", path: DELETED_ITEM, access: may("rw"), action: "READ", deleted: true, parse, handle: getDeletedItem }),
  row({ method: "DELETE", path: DELETED_ITEM, access: may("d"), action: "DELETE", ...DELETED, ...destroyItem }),
  row({ method: "POST", path: `${DELETED_ITEM}/restore`, access: may("rw"), action: "UPDATE", ...DELETED, ...restoreItem }),
  row({
    method: "GET",
    path: `${DELETED_ITEM}/files/:file/content`,
    access: may("rw"),
    action: "READ",
    deleted: true,
    parse,
    handle: getDeletedContent,
  }),

  ...ADMIN_ROUTES,
];
