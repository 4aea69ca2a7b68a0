import type { Activity } from "../../model/activity.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import { adminEntryStatement } from "../activity/admin-entry.ts";
import { refusalOfWrite, runBatch, type Store } from "../d1/database.ts";

/** Ends a token or a person before its time: the next request as it finds no row. */

const SQL = {
  // A token that has expired already ended then.
  end: `
    INSERT INTO ended_tokens (id, root_key_id, sealed, created_at, expires_at, ended_at, signed_by)
    SELECT id, root_key_id, sealed, created_at, expires_at, min(expires_at, ?2), signed_by FROM tokens WHERE id = ?1
    ON CONFLICT (id) DO NOTHING`,
  delete: "DELETE FROM tokens WHERE id = ?1 RETURNING id",
  ended: "SELECT id FROM ended_tokens WHERE id = ?1",
};

/**
 * Revokes a token, or removes a person. The row moves to the ended tokens, unless D1 has no room for it: then its name is lost, and the
 * entry of the log is that of the queue. What has ended stays as it is. In: the entry of the admin's log.
 * Errors: `token_not_found`, those of `refusalOfWrite`.
 */
export async function endToken(store: Store, id: string, entry: Activity): Promise<Result<undefined>> {
  const { db, now } = store;
  const done = await runBatch<[never, unknown, unknown, { id: string }]>(
    db,
    await adminEntryStatement(store, entry, { id }),
    db.prepare(SQL.end).bind(id, now),
    db.prepare(SQL.delete).bind(id),
    db.prepare(SQL.ended).bind(id),
  );
  const full = !done.ok && done.failure.kind === "database_full";
  const ended = full ? await runBatch<[{ id: string }]>(db, db.prepare(SQL.delete).bind(id)) : done;
  if (!ended.ok) return refusalOfWrite(ended);
  return ended.value.at(-1)!.length > 0 ? ok(undefined) : fail("token_not_found");
}
