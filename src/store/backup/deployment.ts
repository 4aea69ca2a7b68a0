import { REGISTRY } from "../../model/backup.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import { runBatch } from "../d1/database.ts";
import { IS_DEPLOYMENT, SELECT_DEPLOYMENT } from "../d1/deployment.ts";
import { type BackupStore, findOpen, listBackupNumbers, loadManifest } from "./load.ts";
import { into } from "../tables/statements.ts";

/** The first data of a full backup: the id of the deployment, and its vaults. */

const SQL = {
  clear: `DELETE FROM deployment WHERE NOT ${IS_DEPLOYMENT}`,
  insert: `INSERT ${into("deployment")} SELECT coalesce(?1, lower(hex(randomblob(16)))) WHERE NOT EXISTS (SELECT 1 FROM deployment)`,
  vaults: "SELECT id FROM vaults WHERE id NOT IN (SELECT value FROM json_each(?1)) ORDER BY id LIMIT ?2",
  count: "SELECT count(*) AS vaults FROM vaults",
};

/** Newest registries in which the id is looked up. */
const REGISTRIES_TRIED_MAX = 8;

/**
 * Returns the id of the deployment, which each backup names. A migration has made it, and the row may be lost. Takes a lost id from the newest registry; without a registry the deployment gets a new id.
 * Fails with `misconfigured` if no registry can be decrypted, and with `unavailable`.
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

/** Returns the deployment of the newest registry that can be decrypted, or `null` if the bucket has no registry. Fails as `ensureDeployment`. */
async function findDeployment({ backups, keyring }: BackupStore): Promise<Result<string | null>> {
  const numbers = await listBackupNumbers(backups, REGISTRY);
  if (!numbers.ok) return numbers;
  if (numbers.value.length === 0) return ok(null);
  const found = await findOpen(numbers.value.slice(-REGISTRIES_TRIED_MAX), (number) =>
    loadManifest(backups, keyring, { vault: REGISTRY, number }),
  );
  if (!found.ok) return found;
  const { newest } = found.value;
  return newest ? ok(newest.manifest.deployment) : fail("misconfigured", DEPLOYMENT_UNKNOWN);
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
