import { BYTES, json, listOf, required } from "../content.ts";
import type { Descriptions } from "../operation.ts";

/** Backups (contract 21): snapshots, and the objects of the bucket. Jobs make them (jobs.ts). */

const tag = "Admin: backups";

const registry = { number: 7, createdAt: "2026-11-22T03:20:00.000Z", rows: 41, bytes: 20_480, vaults: 12 };
const snapshot = { number: 3, createdAt: "2026-11-22T03:17:30.000Z", rows: 1_210, bytes: 734_003 };
const DIGEST = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
const vaults = [
  {
    id: "3fa85f64-5717-4562-b3fc-2c963f66afa6",
    name: "Production",
    snapshot: 3,
    createdAt: "2026-11-22T03:17:30.000Z",
    items: 214,
    skipped: [],
  },
];
const page = {
  objects: [{ key: `vaults/3fa85f64-5717-4562-b3fc-2c963f66afa6/parts/${DIGEST}`, size: 734_003 }],
};

export const backupDescriptions = {
  listBackups: {
    tag,
    summary: "List the backups",
    description: "The snapshots of the registry, the newest 100 first (contract 21.8).",
    answers: { 200: { description: "The backups.", content: listOf("Snapshot", [registry]) } },
  },
  listBackedUpVaults: {
    tag,
    summary: "List the vaults of the backups",
    description: "At most 20, in the order of their ids, by name, also vaults that were deleted (contract 21.15).",
    parameters: ["VaultsAfter"],
    answers: { 200: { description: "A page.", content: json("BackedUpVaults", { vaults }) } },
    errors: ["invalid"],
  },
  listVaultBackups: {
    tag,
    summary: "List the snapshots of a vault",
    description: "The newest 100 first, also of a vault that was deleted (contract 21.8).",
    answers: { 200: { description: "The snapshots.", content: listOf("Snapshot", [snapshot]) } },
    never: ["vault_not_found"],
  },
  listBackupObjects: {
    tag,
    summary: "List the objects of all backups",
    description: "At most 1,000, in the order of their keys (contract 21.9).",
    parameters: ["ObjectsAfter"],
    answers: { 200: { description: "A page.", content: json("BackupObjects", page) } },
    errors: ["invalid"],
  },
  getBackupObject: {
    tag,
    summary: "Download an object of a backup",
    description: "A manifest, a part or a content, as it lies in the bucket (contract 21.9).",
    parameters: ["ObjectKey"],
    answers: { 200: { description: "The object.", content: BYTES, headers: ["ContentLength"] } },
    errors: ["invalid", "backup_not_found"],
  },
  putBackupObject: {
    tag,
    parameters: ["ObjectKey"],
    summary: "Bring an object of a backup back",
    description: "Stores an object that the bucket of backups does not have (contract 21.21).",
    body: required(BYTES),
    answers: {
      200: { description: "Whether the object was stored.", content: json("StoredObject", { stored: true }) },
    },
    errors: ["backup_damaged", "backup_too_new"],
  },
} satisfies Partial<Descriptions>;
