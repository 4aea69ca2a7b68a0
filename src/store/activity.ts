import type { Keyring, RootKey } from "../crypto/keyring.ts";
import { open, type Place, seal } from "../crypto/seal.ts";
import type { Activity, Origin } from "../model/activity.ts";
import { firstIdAt } from "../model/ids.ts";
import { LIMITS } from "../model/limits.ts";
import { fail, ok, type Result } from "../model/result.ts";
import { loadForToken } from "./authorized.ts";
import type { TokenIdentity } from "./token-check.ts";
import { runBatch, type Store } from "./database.ts";
import { deleteExpired } from "./expiry.ts";

/**
 * The rows of the activity log. A commit inserts the entries of its writes (write/fence.ts); a queue inserts reads and
 * denials. The origin of a request is sealed under the root key, because it is shown after the vault was deleted.
 */

/** A row on its way through the queue: plain data, sealed where a user typed it. */
export interface ActivityRow extends Omit<Activity, "origin"> {
  readonly root_key_id: string;
  readonly sealed: string;
}

const place = (log: string, id: string, key: string): Place => ({ kind: "activity", vault: log, record: id, version: 0, key });

/** Makes the row of a request. */
export async function sealActivity(root: RootKey, { origin, ...activity }: Activity): Promise<ActivityRow> {
  return {
    ...activity,
    root_key_id: root.id,
    sealed: await seal(root.registry, place(activity.log, activity.id, root.id), JSON.stringify(origin)),
  };
}

/** The columns, and the expressions that read them from a JSON object called `value`. */
export const ACTIVITY = {
  columns: "vault_id, id, action, result, actor, item_id, version, root_key_id, sealed",
  values: ["id", "action", "result", "actor", "item", "version", "root_key_id", "sealed"]
    .map((name) => `value ->> '${name}'`)
    .join(", "),
};

/** Drops the entries of a vault or token that was deleted meanwhile, and entries that were inserted before. */
const INSERT = `
  INSERT INTO activity (${ACTIVITY.columns})
  SELECT value ->> 'log', ${ACTIVITY.values} FROM json_each(?1)
  WHERE EXISTS (SELECT 1 FROM vaults WHERE id = value ->> 'log') OR EXISTS (SELECT 1 FROM tokens WHERE id = value ->> 'log')
  ON CONFLICT (vault_id, id) DO NOTHING`;

/** Inserts each row once, however often the queue delivers it. Throws when D1 fails, so that the queue delivers again. */
export async function insertActivity(db: D1Database, rows: readonly ActivityRow[]): Promise<void> {
  const done = await runBatch(db, db.prepare(INSERT).bind(JSON.stringify(rows)));
  if (!done.ok) throw new Error("activity could not be inserted");
}

type StoredRow = Omit<ActivityRow, "log" | "item"> & { readonly vault_id: string; readonly item_id: string | null };

const SQL = {
  // Reads from each log only as many of its last rows as the page can need: the key is in their order.
  page: `
    WITH logs AS (SELECT value AS log FROM json_each(?1))
    SELECT ${ACTIVITY.columns} FROM logs JOIN activity ON vault_id = log
      AND id IN (SELECT id FROM activity WHERE vault_id = log ORDER BY id DESC LIMIT ?2 + ?3)
    ORDER BY id DESC LIMIT ?2 OFFSET ?3`,
  total: "SELECT count(*) AS total FROM (SELECT 1 FROM activity WHERE vault_id IN (SELECT value FROM json_each(?1)) LIMIT ?2)",
};

/** One page of the log. */
export interface ActivityPage {
  readonly activities: readonly Activity[];
  /** The number of entries; absent when there are too many to count. */
  readonly total: number | undefined;
}

/**
 * Loads the last entries of these logs, newest first, in one D1 call.
 * Errors: `unauthorized` (revoked), `misconfigured` (a root key is missing), `integrity`.
 */
export async function loadActivity(
  store: Store,
  token: TokenIdentity,
  logs: readonly string[],
  limit: number,
  offset: number,
): Promise<Result<ActivityPage>> {
  const named = JSON.stringify(logs);
  const answer = await loadForToken<[StoredRow, { total: number }]>(
    store,
    token,
    store.db.prepare(SQL.page).bind(named, limit, offset),
    store.db.prepare(SQL.total).bind(named, LIMITS.countedActivity + 1),
  );
  if (!answer.ok) return answer;
  const [rows, [count]] = answer.value;
  const activities: Activity[] = [];
  for (const row of rows) {
    const origin = await openOrigin(store.keyring, row);
    if (!origin.ok) return origin;
    const { vault_id: log, item_id: item, root_key_id: _key, sealed: _sealed, ...rest } = row;
    activities.push({ ...rest, log, item, origin: origin.value });
  }
  const { total } = count!;
  return ok({ activities, total: total > LIMITS.countedActivity ? undefined : total });
}

async function openOrigin({ keys }: Keyring, { vault_id, id, root_key_id, sealed }: StoredRow): Promise<Result<Origin>> {
  const root = keys.get(root_key_id);
  if (!root) return fail("misconfigured", "a root key is missing");
  const text = await open(root.registry, place(vault_id, id, root.id), sealed);
  return text.ok ? ok(JSON.parse(text.value) as Origin) : text;
}

/** Log by log, because the key begins with the log: else SQLite would read every row. */
const DELETE_OLD = `
  WITH RECURSIVE logs (log) AS (
    SELECT min(vault_id) FROM activity
    UNION ALL SELECT (SELECT min(vault_id) FROM activity WHERE vault_id > log) FROM logs WHERE log IS NOT NULL)
  DELETE FROM activity
  WHERE (vault_id, id) IN (
    SELECT vault_id, id FROM logs JOIN activity ON vault_id = log AND id < ?1
    WHERE NOT (action = 'DELETE' AND item_id IS NULL AND result = 'SUCCESS') LIMIT 1000)
  RETURNING id`;

/** Deletes the entries before a time (Unix milliseconds), except the deletions of vaults: these ids are never issued again. */
export const deleteOldActivity = (db: D1Database, before: number): Promise<void> =>
  deleteExpired(db, DELETE_OLD, firstIdAt(before));
