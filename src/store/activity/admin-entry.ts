import type { Activity } from "../../model/activity.ts";
import { createRequestId } from "../../request-id.ts";
import type { Store } from "../d1/database.ts";
import { ACTIVITY, sealActivity } from "./entry-rows.ts";

/** The admin's log: entries inserted in the same batch as their changes. The queue brings all other entries. */

const INSERT = `
  INSERT INTO activity (${ACTIVITY.columns})
  SELECT value ->> 'log', ${ACTIVITY.values} FROM json_each(?1)
  WHERE EXISTS (SELECT 1 FROM tokens WHERE id = ?2 AND sealed = ?3)
  ON CONFLICT (vault_id, id) DO NOTHING`;

/** The tokens of a query, each with the number of its entry. */
const insertNumbered = (query: string, entries: number): string => `
  INSERT INTO activity (${ACTIVITY.columns})
  SELECT value ->> 'log', ${ACTIVITY.values}
  FROM (
    SELECT json_set(json_extract(?${entries}, '$[' || number || ']'), '$.item', id,
      iif(number = 0, '$.item', '$.resource'), iif(number = 0, id, resource)) AS value
    FROM (${query}))
  WHERE value IS NOT NULL ON CONFLICT (vault_id, id) DO NOTHING`;

/**
 * Returns the statement that inserts an entry for each token of a query into the admin's log. Only D1 knows their number, so the maximum
 * number of entries is sealed, each with its own id. `entry` is the first entry. The query is SQL of the columns `id`, `number`, from 0 on,
 * and `resource`.
 */
export async function adminEntriesStatement(
  store: Store,
  entry: Activity,
  othersMax: number,
  { query, values }: { readonly query: string; readonly values: readonly (string | number)[] },
): Promise<D1PreparedStatement> {
  const others = Array.from({ length: othersMax }, () => ({ ...entry, id: createRequestId(store.now) }));
  const rows = await Promise.all([entry, ...others].map((one) => sealActivity(store, one)));
  return store.db.prepare(insertNumbered(query, values.length + 1)).bind(...values, JSON.stringify(rows));
}

/**
 * Returns the statement that inserts an entry about a token into the admin's log. It comes after the statement that writes the token's row.
 * It inserts nothing unless the row has this ciphertext, which each sealing makes anew: so a repeated request has no second entry.
 */
export async function adminEntryStatement(
  store: Store,
  entry: Activity,
  { id, sealed }: { readonly id: string; readonly sealed: string },
): Promise<D1PreparedStatement> {
  const row = await sealActivity(store, entry);
  return store.db.prepare(INSERT).bind(JSON.stringify([row]), id, sealed);
}
