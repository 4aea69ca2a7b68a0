import { ok, type Result } from "../../model/result.ts";
import { TIME_END } from "../../model/time.ts";
import { hasDeletion } from "../activity/entry-rows.ts";
import type { OpenManifest } from "../backup/manifest.ts";
import { runBatch } from "../d1/database.ts";
import { DEPLOYMENT_ID, IN_USE } from "../d1/deployment.ts";
import { into } from "../tables/statements.ts";
import { NEWEST_KEY_ID } from "../vaults/rows.ts";

/**
 * The state of a vault in D1 before a restore, and the mark of a running restore: a row of `restores`. The mark of a vault exists from the
 * deletion of its row to the return of the row, and explains rows without a vault. The mark of the registry stays: a restore of everything
 * continues with its backup.
 */

/** The columns that identify the state of a vault in D1. */
export interface VaultState {
  readonly sequence: number;
  readonly updated_at: number;
  /** The id of its newest key. */
  readonly newest_key: string;
}

/** The state in D1 of the vault or registry to restore. */
export interface Known {
  /** The restore that has begun. */
  readonly begun: { readonly number: number; readonly manifest: string } | undefined;
  readonly vault: VaultState | undefined;
  /** True if the log has the deletion of the vault. */
  readonly deleted: boolean;
  /** Creation time of the newest webhook, in Unix milliseconds. An impossible time is ignored. */
  readonly webhook: number;
  /** The id of the deployment (null if its row is lost), whether it has or had vaults or tokens, and whether it has a vault. */
  readonly deployment: string | null;
  readonly inUse: boolean;
  readonly hasVaults: boolean;
}

const SQL = {
  mark: "SELECT number, manifest FROM restores WHERE vault_id = ?1",
  vault: `SELECT content_version + attribute_version AS sequence, updated_at, ${NEWEST_KEY_ID} AS newest_key FROM vaults WHERE id = ?1`,
  known: `
    SELECT ${DEPLOYMENT_ID} AS deployment, ${IN_USE} AS inUse, EXISTS (SELECT 1 FROM vaults) AS hasVaults,
      coalesce((SELECT max(created_at) FROM webhooks WHERE vault_id = ?1 AND created_at < ${TIME_END}), 0) AS webhook,
      ${hasDeletion("?1")} AS deleted`,
  // If a vault has changed since it was compared, it is still there, and nothing is marked.
  begin: `
    INSERT ${into("restores")} SELECT ?1, ?2, ?3 WHERE NOT EXISTS (SELECT 1 FROM vaults WHERE id = ?1)
    ON CONFLICT (vault_id) DO UPDATE SET number = ?2, manifest = ?3`,
  // The backups of this database continue under the deployment of the backup. A repeated step has removed the vault before.
  adopt: `UPDATE deployment SET id = ?1 WHERE NOT ${IN_USE} AND NOT EXISTS (SELECT 1 FROM restores)`,
  end: "DELETE FROM restores WHERE vault_id = ?1",
};

/** SQL: true if the vault ?1 is marked. */
export const IS_MARKED = "EXISTS (SELECT 1 FROM restores WHERE vault_id = ?1)";

/** Loads the state of a vault or of `REGISTRY`. Fails with `unavailable`. */
export async function loadKnown(db: D1Database, vault: string): Promise<Result<Known>> {
  type Flags = Record<"inUse" | "hasVaults" | "webhook" | "deleted", number> & { readonly deployment: string | null };
  const read = await runBatch<[NonNullable<Known["begun"]>, VaultState, Flags]>(
    db,
    db.prepare(SQL.mark).bind(vault),
    db.prepare(SQL.vault).bind(vault),
    db.prepare(SQL.known).bind(vault),
  );
  if (!read.ok) return read;
  const [[begun], [state], [flags]] = read.value;
  const { deployment, inUse, hasVaults, webhook, deleted } = flags!;
  return ok({
    begun,
    vault: state,
    deployment,
    webhook,
    inUse: inUse === 1,
    hasVaults: hasVaults === 1,
    deleted: deleted === 1,
  });
}

/**
 * Returns the statement that assigns an unused database to the deployment of the backup. It comes before the statement of `beginRestore`.
 */
export const adoptDeployment = (db: D1Database, { manifest }: Pick<OpenManifest, "manifest">): D1PreparedStatement =>
  db.prepare(SQL.adopt).bind(manifest.deployment);

/** The statement that sets the mark, unless the vault is there. */
export const beginRestore = (
  db: D1Database,
  { manifest, sha256 }: Pick<OpenManifest, "manifest" | "sha256">,
): D1PreparedStatement => db.prepare(SQL.begin).bind(manifest.vault, manifest.number, sha256);

/** The statement that removes the mark. */
export const endRestore = (db: D1Database, vault: string): D1PreparedStatement => db.prepare(SQL.end).bind(vault);
