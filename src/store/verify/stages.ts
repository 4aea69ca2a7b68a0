import { REGISTRY } from "../../model/backup.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import { type BackupStore, listBackupNumbers, listFolders } from "../backup/load.ts";
import { runBatch } from "../d1/database.ts";
import { checkArchives } from "./archives.ts";
import { checkChain } from "./backup-chain.ts";
import { checkParts } from "./backup-parts.ts";
import { checkRegistry, checkNamedBackups } from "./backup-registry.ts";
import { checkContents } from "./contents.ts";
import { checkItems } from "./items.ts";
import { checkOtherLogs, checkOtherSegments, checkRecords, checkVaultLog, checkVaultSegments } from "./logs.ts";
import { checkObjects, checkPrefixes } from "./objects.ts";
import { checkEndedTokens, checkKeys, checkSchemaObjects, checkTokens } from "./registry.ts";
import { checkNewest } from "./newest-backup.ts";
import type { Plan } from "./run.ts";
import type { Position, Stage } from "./stage.ts";
import { checkUnknownVaults } from "./unknown.ts";
import { checkVault } from "./vault.ts";
import type { Bucket } from "../buckets/bucket.ts";

/** The stages of a run, in their order: those of the deployment, then those of each vault. */

const DEPLOYMENT: readonly (readonly [string, Stage])[] = [
  ["schema", checkSchemaObjects],
  ["keys", checkKeys],
  ["tokens", checkTokens],
  ["ended", checkEndedTokens],
  ["logs", checkOtherLogs],
  ["segments", checkOtherSegments],
  ["unknown", checkUnknownVaults],
  ["prefixes", checkPrefixes],
  ["archives", checkArchives],
  ["newest-backup", checkNewest],
];

const VAULT: readonly (readonly [string, Stage])[] = [
  ["vault", checkVault],
  ["items", checkItems],
  ["records", checkRecords],
  ["log", checkVaultLog],
  ["log-segments", checkVaultSegments],
  ["contents", checkContents],
  ["objects", checkObjects],
];

/** The stages of a backup: those of the registry, then those of each vault. */
const REGISTRY_BACKUP: readonly (readonly [string, Stage])[] = [
  ["registries", (ports, position) => checkChain(ports, { ...position, vault: REGISTRY })],
  ["registry", checkRegistry],
  ["snapshots", checkNamedBackups],
  ["newest", checkNewest],
];

const VAULT_BACKUP: readonly (readonly [string, Stage])[] = [
  ["chain", checkChain],
  ["parts", checkParts],
];

const LISTS = [DEPLOYMENT, VAULT, REGISTRY_BACKUP, VAULT_BACKUP];

/** The position at which a run begins: the first stage of the deployment, or of one vault. In: whether a backup is verified. */
export function firstPosition(vault: string | undefined, backup: boolean): Position {
  const [whole, one] = backup ? ["registries", "chain"] : ["schema", "vault"];
  return { stage: vault === undefined ? whole : one, vault: vault ?? "", after: [] };
}

/** Out: the plan of a stage. In: the only vault of the run, if it has only one. */
export const planOf =
  ({ db, backups }: Pick<BackupStore, "db" | "backups">, only?: string) =>
  (stage: string): Plan => {
    const stages = LISTS.find((list) => list.some(([name]) => name === stage))!;
    const isBackup = stages === REGISTRY_BACKUP || stages === VAULT_BACKUP;
    const next = (vault: string) => (isBackup ? nextBackup(backups, vault) : nextVault(db, vault));
    return { stages, following: (vault) => (only === undefined ? next(vault) : Promise.resolve(ok(undefined))) };
  };

/** The position at the first stage of the next vault that has a backup. The vault may have been deleted. */
async function nextBackup(bucket: Bucket, after: string): Promise<Result<Position | undefined>> {
  const page = await listFolders(bucket, after, 1);
  if (!page.ok) return page;
  const [vault] = page.value.vaults;
  return ok(vault === undefined ? undefined : firstPosition(vault, true));
}

/** The position at the first stage of the next vault, in the order of the ids. */
async function nextVault(db: D1Database, after: string): Promise<Result<Position | undefined>> {
  const next = db.prepare("SELECT id FROM vaults WHERE id > ?1 ORDER BY id LIMIT 1").bind(after);
  const read = await runBatch<[{ id: string }]>(db, next);
  if (!read.ok) return read;
  const [vault] = read.value[0];
  return ok(vault && firstPosition(vault.id, false));
}

/** Looks whether a vault has a backup. Errors: `backup_not_found`, `unavailable`. */
export async function requireBackup({ backups }: BackupStore, vault: string): Promise<Result<unknown>> {
  const numbers = await listBackupNumbers(backups, vault);
  return numbers.ok && numbers.value.length === 0 ? fail("backup_not_found") : numbers;
}
