import type { Activity } from "../../model/activity.ts";
import { ACTIVITY, sealActivity } from "./entries.ts";
import type { Store } from "../d1/database.ts";

/** The admin's log: entries that are inserted in the batch of what they tell. The queue brings all others. */

const INSERT = `
  INSERT INTO activity (${ACTIVITY.columns})
  SELECT value ->> 'log', ${ACTIVITY.values} FROM json_each(?1)
  WHERE EXISTS (SELECT 1 FROM tokens WHERE id = ?2 AND (?3 IS NULL OR claims = ?3))
  ON CONFLICT (vault_id, id) DO NOTHING`;

/**
 * The statement that inserts an entry about a token into the admin's log. In: the id of the token, and its hash where a
 * token with another hash counts as none. Without the row of the token the statement inserts nothing: it comes after the
 * statement that inserts the row, and before the one that deletes it.
 */
export async function adminEntryStatement(
  store: Store,
  entry: Activity,
  { id, hash }: { readonly id: string; readonly hash?: string },
): Promise<D1PreparedStatement> {
  const row = await sealActivity(store, entry);
  return store.db.prepare(INSERT).bind(JSON.stringify([row]), id, hash ?? null);
}
