import type { Activity } from "../model/activity.ts";
import { ACTIVITY, sealActivity } from "./activity.ts";
import type { Store } from "./database.ts";

/** The admin's log: entries that are inserted in the batch of what they tell. The queue brings all others. */

const INSERT = `
  INSERT INTO activity (${ACTIVITY.columns})
  SELECT value ->> 'log', ${ACTIVITY.values} FROM json_each(?1)
  WHERE ?2 IS NULL OR EXISTS (SELECT 1 FROM tokens WHERE id = ?2)
  ON CONFLICT (vault_id, id) DO NOTHING`;

/**
 * The statement that inserts an entry of the admin's log. In: `ifToken`, the id of a token without whose row the statement
 * inserts nothing; it then comes before the statement that deletes the row.
 */
export async function adminEntryStatement(store: Store, entry: Activity, ifToken?: string): Promise<D1PreparedStatement> {
  const row = await sealActivity(store, entry);
  return store.db.prepare(INSERT).bind(JSON.stringify([row]), ifToken ?? null);
}
