import type { Activity } from "../../model/activity.ts";
import { LIMITS } from "../../model/limits.ts";
import { fail, must, ok, type Result } from "../../model/result.ts";
import { createRequestId } from "../../request-id.ts";
import { adminEntriesStatement } from "../activity/admin-entry.ts";
import { type Take, refusalOfWrite, runBatch, type Store } from "../d1/database.ts";
import { into } from "../tables/statements.ts";
import { TABLES } from "../tables/tables.ts";

/** The end of tokens and people: they are revoked or removed, or they expire. The next request finds no row. */

/**
 * SQL: true for the row of the token ?1, and for the rows below it. Each row shows this itself, so a damaged row keeps no other token
 * valid. Only the login tokens of a person are found through the person's row, if that row is below an ending rule; they last for an hour
 * at most.
 */
export const IN_BRANCH = `(id = ?1 OR ancestor_1 = ?1 OR ancestor_2 = ?1 OR ancestor_3 = ?1
  OR ancestor_1 IN (SELECT id FROM tokens WHERE kind = 'person' AND (ancestor_1 = ?1 OR ancestor_2 = ?1)))`;

/** SQL: true if a row leaves its name. Items and logs name the rule of a workload, and not its tokens, which last for minutes. */
export const LEAVES_NAME = "kind IS NOT 'workload'";

/**
 * SQL: true for a row that expired by the time ?2. An issuer, a rule and a person added by the admin never expire. No row expires
 * before its creation: such a row is damaged, and stays until `verify` has reported it.
 */
const HAS_EXPIRED =
  "expires_at BETWEEN created_at AND ?2 AND (kind IS NULL OR kind IN ('workload', 'admin') OR (kind = 'person' AND ancestor_2 IS NOT NULL))";

/** SQL: the subject of the log entry about a token below another row. */
const RESOURCE = "iif(kind IN ('rule', 'person'), upper(kind), 'TOKEN') AS resource";

const ENDED_COLUMNS = Object.keys(TABLES.ended_tokens.columns);

/**
 * Returns SQL that copies rows of tokens to the ended tokens. `endedAt` is SQL of the time of the end. `source` is SQL of the
 * copied rows, with its WHERE.
 */
const copyEnded = (endedAt: string, source: string): string => `
  INSERT ${into("ended_tokens")}
  SELECT ${ENDED_COLUMNS.map((column) => (column === "ended_at" ? endedAt : column)).join(", ")} FROM ${source}
  ON CONFLICT (id) DO NOTHING`;

const REVOKED = {
  /** The tokens that are in use, the token itself first. */
  numbered: `
    SELECT id, row_number() OVER (ORDER BY id <> ?1, id) - 1 AS number, ${RESOURCE} FROM tokens
    WHERE ${IN_BRANCH} AND (id = ?1 OR expires_at > ?2) AND ${LEAVES_NAME}`,
  // A token that has expired already ended at that time.
  end: copyEnded("min(expires_at, ?2)", `tokens WHERE ${IN_BRANCH} AND ${LEAVES_NAME}`),
  delete: `DELETE FROM tokens WHERE ${IN_BRANCH} RETURNING id`,
  ended: "SELECT id FROM ended_tokens WHERE id = ?1",
};

/**
 * Revokes a token, or removes a person, an issuer or a rule, with all tokens below. The rows move to the ended tokens. If D1 has no room for
 * that, they are deleted. Their names and the entries of the tokens below are then lost; the caller queues the token's own entry. An ended
 * token is not changed. `entry` is the entry of the admin's log. Fails with `token_not_found`, and as `refusalOfWrite` does.
 */
export async function endToken(store: Store, id: string, entry: Activity): Promise<Result<undefined>> {
  const { db, now } = store;
  const done = await runBatch<[never, unknown, unknown, { id: string }]>(
    db,
    await adminEntriesStatement(store, entry, LIMITS.tokenDescendants, { query: REVOKED.numbered, values: [id, now] }),
    db.prepare(REVOKED.end).bind(id, now),
    db.prepare(REVOKED.delete).bind(id),
    db.prepare(REVOKED.ended).bind(id),
  );
  const full = !done.ok && done.failure.kind === "database_full";
  const ended = full ? await runBatch<[{ id: string }]>(db, db.prepare(REVOKED.delete).bind(id)) : done;
  if (!ended.ok) return refusalOfWrite(ended);
  return ended.value.at(-1)!.length > 0 ? ok(undefined) : fail("token_not_found");
}

/** SQL: true for a row below the person ?1, if the person's row has the hash ?3. */
const BELOW_CHANGED = "ancestor_1 = ?1 AND EXISTS (SELECT 1 FROM tokens WHERE id = ?1 AND claims = ?3)";

const CHANGED = {
  numbered: `
    SELECT id, row_number() OVER (ORDER BY id) - 1 AS number, ${RESOURCE} FROM tokens WHERE expires_at > ?2 AND ${BELOW_CHANGED}`,
  end: copyEnded("min(expires_at, ?2)", `tokens WHERE ${BELOW_CHANGED}`),
  delete: `DELETE FROM tokens WHERE ?2 IS NOT NULL AND ${BELOW_CHANGED}`,
};

/**
 * Returns the statements that end the tokens below a changed person. They come after the statement that changes the row, and do
 * nothing without it. `hash` is the new hash. `entry` is the entry of the change in the admin's log.
 */
export async function endBelowChanged(
  store: Store,
  id: string,
  hash: string,
  entry: Activity,
): Promise<readonly [D1PreparedStatement, D1PreparedStatement, D1PreparedStatement]> {
  const { db, now } = store;
  const values = [id, now, hash] as const;
  const ended = { ...entry, id: createRequestId(now), action: "DELETE", resource: "TOKEN" } as const;
  return [
    await adminEntriesStatement(store, ended, LIMITS.tokenDescendants - 1, { query: CHANGED.numbered, values }),
    db.prepare(CHANGED.end).bind(...values),
    db.prepare(CHANGED.delete).bind(...values),
  ];
}

/** Returns the statements that move the few expired tokens below a token, so that an expired token takes no place. */
export const endExpiredBelow = ({ db, now }: Store, root: string): readonly [D1PreparedStatement, D1PreparedStatement] => [
  db.prepare(EXPIRED_BELOW.end).bind(root, now),
  db.prepare(EXPIRED_BELOW.delete).bind(root, now),
];

const EXPIRED_BELOW = {
  end: copyEnded("expires_at", `tokens WHERE ancestor_1 = ?1 AND ${HAS_EXPIRED} AND ${LEAVES_NAME}`),
  delete: `DELETE FROM tokens WHERE ancestor_1 = ?1 AND ${HAS_EXPIRED}`,
};

const EXPIRED = {
  /** Copies the rows that `remove` deletes: both run in one transaction. */
  end: copyEnded(
    "expires_at",
    `(SELECT * FROM tokens WHERE id > ?1 AND ${HAS_EXPIRED} ORDER BY id LIMIT 1000) WHERE ${LEAVES_NAME}`,
  ),
  remove: `
    DELETE FROM tokens WHERE id IN (SELECT id FROM tokens WHERE id > ?1 AND ${HAS_EXPIRED} ORDER BY id LIMIT 1000)
    RETURNING id`,
};

/**
 * Moves the rows of expired tokens out of the allow-list, in slices of 1,000. `now` is in Unix milliseconds. `take` takes a call
 * for each slice. For the cron trigger: throws if D1 fails, so that the run shows as failed. The table is read once, whatever the
 * number of slices.
 */
export async function moveExpiredTokens(db: D1Database, now: number, take: Take): Promise<void> {
  let after = "";
  while (take(1)) {
    const ended = await runBatch<[unknown, { id: string }]>(
      db,
      ...([EXPIRED.end, EXPIRED.remove].map((sql) => db.prepare(sql).bind(after, now)) as [
        D1PreparedStatement,
        D1PreparedStatement,
      ]),
    );
    const ids = must("move expired tokens", ended)[1].map(({ id }) => id);
    if (ids.length === 0) break;
    after = ids.reduce((last, id) => (id > last ? id : last));
  }
}
