import type { Cell } from "../../model/backup.ts";
import { expiredOf } from "../activity-retention.ts";
import { ACTIVITY, sealActivity } from "../activity.ts";
import { proofStatement } from "../root-keys.ts";
import type { VaultRow } from "../vault-rows.ts";
import { isImpossible } from "../verify/backup-rows.ts";
import { recount } from "../write/repairs.ts";
import type { RestorePorts } from "./ports.ts";
import { endRestore } from "./progress.ts";
import type { Step } from "./step.ts";

const SQL = {
  /** The counts of the log begin anew (activity-insert.ts). */
  forgetCounts: "DELETE FROM logs WHERE vault_id IN (?1, ?1 || '/dropped')",
  /** The log of a restored vault begins where that of the snapshot does. */
  expired: `
    INSERT INTO logs (vault_id, entries, trimmed)
    SELECT ${expiredOf("?1")}, coalesce(min(sequence) - 1, (SELECT content_version + attribute_version FROM vaults WHERE id = ?1)), ''
    FROM activity WHERE vault_id = ?1 AND sequence IS NOT NULL
    ON CONFLICT (vault_id) DO UPDATE SET entries = max(entries, excluded.entries)`,
  forgetOtherCounts: "DELETE FROM logs WHERE NOT EXISTS (SELECT 1 FROM vaults WHERE id = substr(logs.vault_id, 1, 36))",
  entry: `INSERT INTO activity (${ACTIVITY.columns}) SELECT value ->> 'log', ${ACTIVITY.values} FROM json_each(?1)`,
};

/**
 * The statements of the last step of a vault: its row, by which it exists, and the entry of its log. A time of the row that is none becomes
 * that of the snapshot; the rows are counted when some were left out.
 */
export async function finishStatements(
  { store, entry }: RestorePorts,
  { manifest, position }: Step,
  damaged: VaultRow,
): Promise<D1PreparedStatement[]> {
  const { db, keyring } = store;
  const row = Object.fromEntries(
    Object.entries(damaged).map(([column, value]) => [column, isImpossible(column, value as Cell) ? manifest.at : value]),
  ) as unknown as VaultRow;
  const columns = Object.keys(row);
  const values = columns.map((column) => `?1 ->> '${column}'`).join(", ");
  return [
    await proofStatement(db, keyring.keys.get(row.root_key_id)!),
    db.prepare(`INSERT INTO vaults (${columns.join(", ")}) SELECT ${values}`).bind(JSON.stringify(row)),
    ...(position.rowsLeftOut > 0 ? [recount(db, row.id)] : []),
    db.prepare(SQL.forgetCounts).bind(row.id),
    db.prepare(SQL.entry).bind(JSON.stringify([await sealActivity(store, entry)])),
    db.prepare(SQL.expired).bind(row.id),
    endRestore(db, row.id),
  ];
}

/** The statement of the last step of the registry: its rows include entries of the logs of the admin, of tokens and of deleted vaults. */
export const finishRegistry = (db: D1Database): D1PreparedStatement => db.prepare(SQL.forgetOtherCounts);
