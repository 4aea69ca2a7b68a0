import type { Activity } from "../../model/activity.ts";
import { createRequestId } from "../../request-id.ts";
import { ACTIVITY, sealActivity } from "./entry-rows.ts";
import type { Store } from "../d1/database.ts";

/** The admin's log: entries that are inserted in the batch of what they tell. The queue brings all others. */

const INSERT = `
  INSERT INTO activity (${ACTIVITY.columns})
  SELECT value ->> 'log', ${ACTIVITY.values} FROM json_each(?1)
  WHERE EXISTS (SELECT 1 FROM tokens WHERE id = ?2 AND (?3 IS NULL OR claims = ?3))
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
 * The statement that inserts an entry about each token of a query into the admin's log. How many these are is known only to D1, so as many
 * entries are sealed as there may be, each under an id of its own. In: the entry of the first one, the most others, and SQL of the columns
 * `id`, `number`, from 0 on, and `resource`, with its parameters.
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
