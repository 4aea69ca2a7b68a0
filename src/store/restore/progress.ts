import type { Manifest } from "../../model/backup.ts";
import { formatPosition, parsePosition, type Position } from "../../model/restore.ts";
import { ok, type Result } from "../../model/result.ts";
import { TIME_END } from "../../model/time.ts";
import { hasDeletion } from "../activity/entries.ts";
import { runBatch, writeFenced } from "../d1/database.ts";
import { fence } from "../d1/fence.ts";
import { IN_USE } from "../d1/deployment.ts";
import { NEWEST_KEY_ID } from "../vaults/rows.ts";

/**
 * The progress of a restore: a row of `restores` with a position, which each step moves in the batch with its effect. When two requests do
 * the same step at the same time, one takes effect: the second one expects a position that has changed, so D1 rolls its batch back.
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
  readonly running: { readonly number: number; readonly manifest: string; readonly position: Position } | undefined;
  readonly vault: VaultState | undefined;
  /** Whether the log has the deletion of the vault. */
  readonly deleted: boolean;
  /** When the newest webhook was made: Unix milliseconds. An impossible time is ignored. */
  readonly webhook: number;
  /** The id of the deployment, and whether it has or had vaults or tokens. */
  readonly deployment: string;
  readonly inUse: boolean;
}

const SQL = {
  running: "SELECT number, manifest, position FROM restores WHERE vault_id = ?1",
  vault: `SELECT content_version + attribute_version AS sequence, updated_at, ${NEWEST_KEY_ID} AS newest_key FROM vaults WHERE id = ?1`,
  known: `
    SELECT (SELECT id FROM deployment) AS deployment, ${IN_USE} AS inUse,
      coalesce((SELECT max(created_at) FROM webhooks WHERE vault_id = ?1 AND created_at < ${TIME_END}), 0) AS webhook,
      ${hasDeletion("?1")} AS deleted`,
  begin: `
    INSERT INTO restores (vault_id, number, manifest, position) VALUES (?1, ?2, ?3, ?4)
    ON CONFLICT (vault_id) DO UPDATE SET number = ?2, manifest = ?3, position = ?4`,
  // The backups of this database continue under the deployment of the backup.
  adopt: `UPDATE deployment SET id = ?1 WHERE NOT ${IN_USE}`,
  isAt: fence("EXISTS (SELECT 1 FROM restores WHERE vault_id = ?1 AND manifest = ?2 AND position = ?3)"),
  move: "UPDATE restores SET position = ?2 WHERE vault_id = ?1",
  end: "DELETE FROM restores WHERE vault_id = ?1",
};

/** In: the id of a vault, or `REGISTRY`. Errors: `unavailable`. */
export async function loadKnown(db: D1Database, vault: string): Promise<Result<Known>> {
  type Running = { readonly number: number; readonly manifest: string; readonly position: string };
  type Flags = { readonly deployment: string; readonly inUse: number; readonly webhook: number; readonly deleted: number };
  const read = await runBatch<[Running, VaultState, Flags]>(
    db,
    db.prepare(SQL.running).bind(vault),
    db.prepare(SQL.vault).bind(vault),
    db.prepare(SQL.known).bind(vault),
  );
  if (!read.ok) return read;
  const [[running], [state], [flags]] = read.value;
  const { deployment, inUse, webhook, deleted } = flags!;
  const began = running && { ...running, position: parsePosition(running.position) };
  return ok({ running: began, vault: state, deployment, webhook, inUse: inUse === 1, deleted: deleted === 1 });
}

/** Which restore it is. */
export interface Restore {
  readonly manifest: Manifest;
  /** SHA-256 of the manifest. */
  readonly sha256: string;
}

/** Records that a restore begins, or begins again. Errors: `unavailable`. */
export async function beginRestore(
  db: D1Database,
  { manifest, sha256 }: Restore,
  position: Position,
): Promise<Result<undefined>> {
  const { vault, number, deployment } = manifest;
  const done = await runBatch(
    db,
    db.prepare(SQL.adopt).bind(deployment),
    db.prepare(SQL.begin).bind(vault, number, sha256, formatPosition(position)),
  );
  return done.ok ? ok(undefined) : done;
}

/**
 * Carries out a step: moves the position and runs the statements in one batch. Errors: `busy`, when another request has moved the
 * position; `database_full`; `internal`; `unavailable`, also when the step may have taken effect, which the position shows.
 */
export async function moveRestore(
  db: D1Database,
  { manifest, sha256 }: Restore,
  from: Position,
  to: Position,
  statements: readonly D1PreparedStatement[],
): Promise<Result<undefined>> {
  const isAt = db.prepare(SQL.isAt).bind(manifest.vault, sha256, formatPosition(from));
  const move = db.prepare(SQL.move).bind(manifest.vault, formatPosition(to));
  return writeFenced(db, [isAt, move, ...statements], "busy");
}

/** The statement that ends a restore, for its last step. */
export const endRestore = (db: D1Database, vault: string): D1PreparedStatement => db.prepare(SQL.end).bind(vault);
