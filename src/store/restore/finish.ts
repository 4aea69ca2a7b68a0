import { ACTIVITY, sealActivity } from "../activity.ts";
import { proofStatement } from "../root-keys.ts";
import type { VaultRow } from "../vault-rows.ts";
import type { RestorePorts } from "./ports.ts";
import { endRestore } from "./progress.ts";

const SQL = {
  /** The counts of the log begin anew (activity-insert.ts). */
  forgetCounts: "DELETE FROM logs WHERE vault_id = ?1",
  forgetOtherCounts: "DELETE FROM logs WHERE NOT EXISTS (SELECT 1 FROM vaults WHERE id = logs.vault_id)",
  entry: `INSERT INTO activity (${ACTIVITY.columns}) SELECT value ->> 'log', ${ACTIVITY.values} FROM json_each(?1)`,
};

/** The statements of the last step of a vault: its row, by which it exists, and the entry of its log. */
export async function finishStatements({ store, entry }: RestorePorts, row: VaultRow): Promise<D1PreparedStatement[]> {
  const { db, keyring } = store;
  const columns = Object.keys(row);
  const values = columns.map((column) => `?1 ->> '${column}'`).join(", ");
  return [
    await proofStatement(db, keyring.keys.get(row.root_key_id)!),
    db.prepare(`INSERT INTO vaults (${columns.join(", ")}) SELECT ${values}`).bind(JSON.stringify(row)),
    db.prepare(SQL.forgetCounts).bind(row.id),
    db.prepare(SQL.entry).bind(JSON.stringify([await sealActivity(store, entry)])),
    endRestore(db, row.id),
  ];
}

/** The statement of the last step of the registry: its rows include entries of the logs of the admin, of tokens and of deleted vaults. */
export const finishRegistry = (db: D1Database): D1PreparedStatement => db.prepare(SQL.forgetOtherCounts);
