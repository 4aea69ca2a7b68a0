import { BYTES, json, required } from "../content.ts";
import { restoration, restoreRequest } from "../operations-examples.ts";
import { ADMIN, type Row } from "../operation.ts";

/** Restores from backups (contract 21.20). */

const tag = "Admin: backups";

export const restoreRows: readonly Row[] = [
  {
    method: "post",
    path: "/v1/admin/restores",
    operationId: "restoreBackup",
    tag,
    summary: "Restore from a backup",
    description: "Carries out a slice: send the request again until `state` is `done` (contract 21.20 to 21.29).",
    access: ADMIN,
    json: required(json("RestoreRequest", restoreRequest)),
    answers: { 200: { description: "How far the restore is.", content: json("Restoration", restoration) } },
    errors: ["backup_not_found", "backup_newer", "backup_damaged", "busy", "version_skew", "database_full", "uncertain", "quota"],
  },
  {
    method: "put",
    path: "/v1/admin/backups/object",
    operationId: "putBackupObject",
    tag,
    parameters: ["ObjectKey"],
    summary: "Bring an object of a backup back",
    description: "Stores an object that the bucket of backups does not have (contract 21.21).",
    access: ADMIN,
    bytes: required(BYTES),
    answers: { 200: { description: "Whether the object was stored.", content: json("StoredObject", { stored: true }) } },
    errors: ["backup_damaged"],
  },
];
