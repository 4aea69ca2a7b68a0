import { must } from "../../model/result.ts";
import type { Take } from "../d1/calls.ts";
import { runBatch } from "../d1/database.ts";

const SQL = {
  /** The same rows as `remove` deletes: both run in one transaction. */
  end: `
    INSERT INTO ended_tokens (id, root_key_id, sealed, created_at, expires_at, ended_at, signed_by)
    SELECT id, root_key_id, sealed, created_at, expires_at, expires_at, signed_by FROM tokens
    WHERE id > ?1 AND expires_at <= ?2 ORDER BY id LIMIT 1000
    ON CONFLICT (id) DO NOTHING`,
  remove: `
    DELETE FROM tokens WHERE id IN (SELECT id FROM tokens WHERE id > ?1 AND expires_at <= ?2 ORDER BY id LIMIT 1000)
    RETURNING id`,
};

/**
 * Moves the rows of expired tokens out of the allow-list, in slices of 1,000. In: Unix milliseconds, and what gives a call for each
 * slice. Out: how many. For the cron trigger: throws when D1 fails, so that the run shows as failed. The table is read once, whatever the
 * number of slices.
 */
export async function moveExpiredTokens(db: D1Database, now: number, take: Take): Promise<number> {
  let [after, count] = ["", 0];
  while (take(1)) {
    const moved = await runBatch<[unknown, { id: string }]>(
      db,
      ...([SQL.end, SQL.remove].map((sql) => db.prepare(sql).bind(after, now)) as [D1PreparedStatement, D1PreparedStatement]),
    );
    const ids = must("move expired tokens", moved)[1].map(({ id }) => id);
    if (ids.length === 0) break;
    count += ids.length;
    after = ids.reduce((last, id) => (id > last ? id : last));
  }
  return count;
}
