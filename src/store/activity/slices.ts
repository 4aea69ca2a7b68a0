import type { ActivityFilter } from "../../model/activity.ts";
import { LIMITS } from "../../model/limits.ts";
import { ADMIN } from "../../model/operation.ts";
import { ok, type Result } from "../../model/result.ts";
import type { Slice, Start } from "./merge.ts";
import { droppedOf } from "./insert.ts";
import { loadForToken } from "../vaults/authorized.ts";
import { runBatch, type Store } from "../d1/database.ts";
import type { TokenIdentity } from "../vaults/token-check.ts";

/** Reads slices of the activity log: so many consecutive rows of each log, and of them the entries that match a filter. */

/** Who reads which logs. `claims` is the token; `admin` stands for the admin, whom the guard has authenticated. */
export interface Reader {
  readonly claims: TokenIdentity | typeof ADMIN;
  readonly logs: readonly string[];
}

/** An entry as the database gives it: the values of `COLUMNS`. */
export interface Entry {
  readonly log: string;
  readonly id: string;
  readonly values: readonly unknown[];
}

export const COLUMNS = ["id", "action", "result", "actor", "item_id", "version", "root_key_id", "sealed", "resource"] as const;

/**
 * A condition on a row. A filter of an Item also lets through the reads that name no Item in the clear: that of several Items has their
 * ids in the sealed text.
 */
const MATCHES = `
  coalesce(actor = ?3, 1) AND coalesce(action = ?4, 1) AND coalesce(result = ?5, 1)
  AND (?6 IS NULL OR item_id = ?6 OR (item_id IS NULL AND action = 'READ' AND result = 'SUCCESS'))
  AND (?7 IS NULL OR (item_id = ?7 AND coalesce(resource, 'VAULT') = 'VAULT'))`;

const SQL = {
  // One row a log, with its entries as JSON: a join would read each entry several times.
  slices: `
    SELECT (
      SELECT json_array(count(*), min(id), json_group_array(json_array(${COLUMNS.join(", ")})) FILTER (WHERE ${MATCHES}))
      FROM (SELECT * FROM activity WHERE vault_id = starts.value ->> 0 AND id < starts.value ->> 1 ORDER BY id DESC LIMIT ?2)
    ) AS slice FROM json_each(?1) AS starts ORDER BY starts.key`,
  total: `
    SELECT count(*) AS total, (SELECT max(trimmed) FROM logs WHERE vault_id IN (SELECT ${droppedOf("value")} FROM json_each(?3))) AS dropped
    FROM (SELECT 1 FROM activity WHERE vault_id IN (SELECT value FROM json_each(?1)) LIMIT ?2)`,
};

interface Wanted {
  readonly counted?: readonly string[];
  readonly told?: readonly string[];
  readonly filter?: ActivityFilter | undefined;
}

/**
 * Reads at most `size` rows from each start on, in one D1 call. In: the logs to count too, and those of which to tell the newest entry that
 * was dropped because there were too many.
 */
export async function readSlices(
  store: Store,
  { claims }: Reader,
  starts: readonly Start[],
  size: number,
  { counted = [], told = [], filter = {} }: Wanted,
): Promise<Result<{ slices: Slice<Entry>[]; total: number; dropped: string | undefined }>> {
  const { actor, action, result, item, vault } = filter;
  const values = [actor, action, result, item, vault].map((value) => value ?? null);
  const statements = [
    store.db.prepare(SQL.slices).bind(JSON.stringify(starts.map(({ log, before }) => [log, before])), size, ...values),
    store.db.prepare(SQL.total).bind(JSON.stringify(counted), LIMITS.countedActivity + 1, JSON.stringify(told)),
  ] as const;
  type Rows = [{ slice: string }, { total: number; dropped: string | null }];
  const answer = await (claims === ADMIN
    ? runBatch<Rows>(store.db, ...statements)
    : loadForToken<Rows>(store, claims, ...statements));
  if (!answer.ok) return answer;
  const [rows, [count]] = answer.value;
  const slices = rows.map((row, index): Slice<Entry> => {
    const { log } = starts[index]!;
    const [read, end, found] = JSON.parse(row.slice) as [number, string | null, unknown[][]];
    const entries = found.map((columns) => ({ log, id: columns[0] as string, values: columns }));
    // SQLite does not promise the order of what an aggregate function collects.
    return { log, entries: entries.toSorted((a, b) => (a.id < b.id ? 1 : -1)), end: end ?? "", more: read === size };
  });
  return ok({ slices, total: count!.total, dropped: count!.dropped ?? undefined });
}
