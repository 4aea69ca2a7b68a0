import { REGISTRY } from "../../model/backup.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import { runBatch } from "../d1/database.ts";
import { IS_DEPLOYMENT, SELECT_DEPLOYMENT } from "../d1/deployment.ts";
import { type BackupStore, findOpen, listBackupNumbers, listFolders, loadManifest } from "./load.ts";
import { into } from "../tables/statements.ts";

/** The first data of a full backup: the id of the deployment, and its vaults. */

const SQL = {
  clear: `DELETE FROM deployment WHERE NOT ${IS_DEPLOYMENT}`,
  insert: `INSERT ${into("deployment")} SELECT coalesce(?1, lower(hex(randomblob(16)))) WHERE NOT EXISTS (SELECT 1 FROM deployment)`,
  vaults: "SELECT id FROM vaults WHERE id NOT IN (SELECT value FROM json_each(?1)) ORDER BY id LIMIT ?2",
  count: "SELECT count(*) AS vaults FROM vaults",
};

/** Folders of vaults, and newest backups in each, in which a manifest is searched. */
const TRIED_MAX = { folders: 3, backups: 8 };

/**
 * Returns the id of the deployment, which each backup names. A migration has made it, and the row may be lost. Restores a lost id from the newest manifest of the bucket; without any backup the deployment gets a new id.
 * Fails with `misconfigured` if no manifest can be decrypted, and with `unavailable`.
 */
export async function ensureDeployment(store: BackupStore): Promise<Result<string>> {
  const { db } = store;
  const read = await runBatch<[{ id: string | null }]>(db, db.prepare(SELECT_DEPLOYMENT));
  if (!read.ok) return read;
  const { id } = read.value[0][0]!;
  if (id !== null) return ok(id);
  const known = await findDeployment(store);
  if (!known.ok) return known;
  const written = await runBatch<[never, never, { id: string }]>(
    db,
    db.prepare(SQL.clear),
    db.prepare(SQL.insert).bind(known.value),
    db.prepare(SELECT_DEPLOYMENT),
  );
  return written.ok ? ok(written.value[2][0]!.id) : written;
}

/** Returns the deployment that the newest manifest names, or `null` if the bucket has no backup. Fails as `ensureDeployment`. */
async function findDeployment({ backups, keyring }: BackupStore): Promise<Result<string | null>> {
  const folders = await listFolders(backups, "", TRIED_MAX.folders);
  if (!folders.ok) return folders;
  let isEmpty = true;
  for (const vault of [REGISTRY, ...folders.value.vaults]) {
    const numbers = await listBackupNumbers(backups, vault);
    if (!numbers.ok) return numbers;
    isEmpty &&= numbers.value.length === 0;
    const found = await findOpen(numbers.value.slice(-TRIED_MAX.backups), (number) =>
      loadManifest(backups, keyring, { vault, number }),
    );
    if (!found.ok) return found;
    if (found.value.newest) return ok(found.value.newest.manifest.deployment);
  }
  return isEmpty ? ok(null) : fail("misconfigured", DEPLOYMENT_UNKNOWN);
}

const DEPLOYMENT_UNKNOWN = "the database has lost the id of its deployment, and no manifest can be decrypted with ROOT_KEYS";

/** Returns the ids of some vaults but those that are `done`. Fails with `unavailable`. */
export async function listVaultIds(db: D1Database, done: readonly string[], limit: number): Promise<Result<string[]>> {
  const read = await runBatch<[{ id: string }]>(db, db.prepare(SQL.vaults).bind(JSON.stringify(done), limit));
  return read.ok ? ok(read.value[0].map(({ id }) => id)) : read;
}

/** Fails with `unavailable`. */
export async function countVaults(db: D1Database): Promise<Result<number>> {
  const read = await runBatch<[{ vaults: number }]>(db, db.prepare(SQL.count));
  return read.ok ? ok(read.value[0][0]!.vaults) : read;
}
