import type { AnswerBody } from "../../contract/answer.ts";
import type { OpenAccess } from "../../contract/operation.ts";
import { type OperationId, OPERATIONS } from "../../contract/operations.ts";
import { exportActivity } from "./endpoints/activity-export.ts";
import { listActivity, listAdminActivity } from "./endpoints/activity.ts";
import { putBackupObject } from "./endpoints/admin-backup-objects.ts";
import {
  getBackupObject,
  listBackedUpVaults,
  listBackupObjects,
  listBackups,
  listVaultBackups,
} from "./endpoints/admin-backups.ts";
import { createJob, getJob, listFindings, listJobs, pauseJob, resumeJob, stopJob } from "./endpoints/admin-jobs.ts";
import { listKeys } from "./endpoints/admin-keys.ts";
import { addPerson, changePerson, getPerson, listPeople, removePerson } from "./endpoints/admin-people.ts";
import { createToken, getToken, listTokens, revokeToken } from "./endpoints/admin-tokens.ts";
import { createVault, deleteVault, listAllVaults, updateVault } from "./endpoints/admin-vaults.ts";
import { createWebhook, deleteWebhook, getWebhook, listWebhooks, updateWebhook } from "./endpoints/admin-webhooks.ts";
import { streamAllEvents } from "./endpoints/all-events.ts";
import { destroyItem, getDeletedContent, getDeletedItem, listDeletedItems, restoreItem } from "./endpoints/deleted-items.ts";
import { listEvents } from "./endpoints/events.ts";
import { removeFile, replaceFileContent, uploadFile } from "./endpoints/file-writes.ts";
import { getContent, getFile, listFiles } from "./endpoints/files.ts";
import { health, heartbeat } from "./endpoints/health.ts";
import { listItems } from "./endpoints/item-list.ts";
import { archiveItem, createItem, deleteItem, getItem, patchItem, replaceItem, unarchiveItem } from "./endpoints/items.ts";
import { metrics } from "./endpoints/metrics.ts";
import { resolve } from "./endpoints/resolve.ts";
import { getSession, signIn, signOut } from "./endpoints/session.ts";
import { createAdminCode, createOwnCode } from "./endpoints/sign-in.ts";
import { getOwnToken } from "./endpoints/token.ts";
import { getVault, listVaults } from "./endpoints/vaults.ts";
import { destroyVersion, getVersion, listVersions, restoreVersion } from "./endpoints/versions.ts";
import { type Handler, type OpenHandler, type OpenRoute, type Route, serveBy, servePath } from "./route.ts";

/** What serves each operation of the API (contract/operations.ts). */

type Handlers = {
  readonly [Id in OperationId]: (typeof OPERATIONS)[Id]["access"] extends OpenAccess
    ? OpenHandler<AnswerBody<Id>>
    : Handler<AnswerBody<Id>>;
};

const HANDLERS: Handlers = {
  getOwnToken: servePath(getOwnToken),
  resolveReferences: serveBy(resolve),
  listVaults: serveBy(listVaults),
  getVault: servePath(getVault),
  listActivity: serveBy(listActivity),

  listItems: serveBy(listItems),
  createItem: serveBy(createItem),
  getItem: servePath(getItem),
  replaceItem: serveBy(replaceItem),
  patchItem: serveBy(patchItem),
  deleteItem: serveBy(deleteItem),
  archiveItem: serveBy(archiveItem),
  unarchiveItem: serveBy(unarchiveItem),

  listFiles: serveBy(listFiles),
  uploadFile: serveBy(uploadFile),
  getFile: serveBy(getFile),
  deleteFile: serveBy(removeFile),
  getFileContent: serveBy(getContent),
  replaceFileContent: serveBy(replaceFileContent),

  listVersions: serveBy(listVersions),
  getVersion: servePath(getVersion),
  restoreVersion: serveBy(restoreVersion),
  destroyVersion: serveBy(destroyVersion),

  listDeletedItems: serveBy(listDeletedItems),
  getDeletedItem: servePath(getDeletedItem),
  destroyDeletedItem: serveBy(destroyItem),
  restoreDeletedItem: serveBy(restoreItem),
  getDeletedFileContent: servePath(getDeletedContent),

  listEvents: serveBy(listEvents),
  streamAllEvents: serveBy(streamAllEvents),

  listAllVaults: servePath(listAllVaults),
  createVault: serveBy(createVault),
  updateVault: serveBy(updateVault),
  deleteVault: serveBy(deleteVault),

  listTokens: servePath(listTokens),
  createToken: serveBy(createToken),
  getToken: servePath(getToken),
  revokeToken: servePath(revokeToken),

  listAdminActivity: serveBy(listAdminActivity),
  exportActivity: serveBy(exportActivity),

  listKeys: servePath(listKeys),

  listJobs: serveBy(listJobs),
  createJob: serveBy(createJob),
  getJob: serveBy(getJob),
  stopJob: servePath(stopJob),
  pauseJob: servePath(pauseJob),
  resumeJob: servePath(resumeJob),
  listJobFindings: serveBy(listFindings),

  listPeople: servePath(listPeople),
  addPerson: serveBy(addPerson),
  getPerson: servePath(getPerson),
  changePerson: serveBy(changePerson),
  removePerson: servePath(removePerson),

  listWebhooks: servePath(listWebhooks),
  createWebhook: serveBy(createWebhook),
  getWebhook: servePath(getWebhook),
  updateWebhook: serveBy(updateWebhook),
  deleteWebhook: servePath(deleteWebhook),

  listBackups: servePath(listBackups),
  listBackedUpVaults: serveBy(listBackedUpVaults),
  listVaultBackups: servePath(listVaultBackups),
  listBackupObjects: serveBy(listBackupObjects),
  getBackupObject: serveBy(getBackupObject),
  putBackupObject: serveBy(putBackupObject),

  getSession,
  signIn,
  signOut,
  createSignInCode: servePath(createOwnCode),
  createAdminSignInCode: servePath(createAdminCode),

  getHeartbeat: heartbeat,
  getHealth: health,
  getMetrics: metrics,
};

const ids = Object.keys(OPERATIONS) as OperationId[];

/** The routes that the pipeline serves. */
export const ROUTES: readonly Route[] = ids.flatMap((id) => {
  const [operation, handler] = [OPERATIONS[id], HANDLERS[id]];
  return "action" in operation && "handle" in handler ? [{ ...operation, ...handler }] : [];
});

/** The routes without a guard. */
export const OPEN_ROUTES: readonly OpenRoute[] = ids.flatMap((id) => {
  const [operation, handler] = [OPERATIONS[id], HANDLERS[id]];
  return !("action" in operation) && typeof handler === "function" ? [{ ...operation, open: handler }] : [];
});
