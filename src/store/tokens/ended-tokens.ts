import { LIMITS } from "../../model/limits.ts";
import { fail, must, ok, type Result } from "../../model/result.ts";
import type { Take } from "../d1/calls.ts";
import { refusalOfWrite, runBatch, type Store } from "../d1/database.ts";
import type { Activity } from "../../model/activity.ts";
import { createRequestId } from "../../request-id.ts";
import { adminEntriesStatement } from "../activity/admin-entry.ts";
import { into } from "../tables/statements.ts";
import { TABLES } from "../tables/tables.ts";

/** The end of tokens and people: they are revoked or removed, or they expire. The next request finds no row. */

/**
 * SQL: whether a row is that of the token ?1, or of one below it. Each row tells so itself, so a damaged one keeps no other one in use. Only the
 * tokens of the logins of a person are found by the row of the person if it is below a rule that ends; they last for an hour at most.
 */
export const IN_BRANCH = `(id = ?1 OR ancestor_1 = ?1 OR ancestor_2 = ?1 OR ancestor_3 = ?1
  OR ancestor_1 IN (SELECT id FROM tokens WHERE kind = 'person' AND (ancestor_1 = ?1 OR ancestor_2 = ?1)))`;

/** SQL: whether a row leaves its name. Items and logs name the rule of a workload, and not its tokens, which last for minutes. */
export const LEAVES_NAME = "kind IS NOT 'workload'";

/**
 * SQL: whether a row expired by the time ?2. An issuer, a rule and a person whom the admin has added never expire, and no row expires before it was made: such a row is
 * damaged. It stays until `verify` has named it.
 */
const HAS_EXPIRED =
  "expires_at BETWEEN created_at AND ?2 AND (kind IS NULL OR kind IN ('workload', 'admin') OR (kind = 'person' AND ancestor_2 IS NOT NULL))";

/** SQL: what the entry of the log about a token below another row is about. */
const RESOURCE = "iif(kind IN ('rule', 'person'), upper(kind), 'TOKEN') AS resource";

const ENDED_COLUMNS = Object.keys(TABLES.ended_tokens.columns);

/** SQL: copies rows of tokens to the ended ones. In: SQL of the time at which they end, and of what is copied, with its WHERE. */
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
 * Revokes a token, or removes a person, an issuer or a rule, and with it all tokens below. The rows move to the ended tokens. When D1 has no room
 * for that, they are deleted: then their names are lost, and so are the entries of those below; the caller hands that of the token to the
 * queue. A token that has ended already is not changed. In: the entry of the admin's log. Errors: `token_not_found`, those of
 * `refusalOfWrite`.
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

/** SQL: whether a row is below the person ?1, whose row has the hash ?3. */
const BELOW_CHANGED = "ancestor_1 = ?1 AND EXISTS (SELECT 1 FROM tokens WHERE id = ?1 AND claims = ?3)";

const CHANGED = {
  numbered: `
    SELECT id, row_number() OVER (ORDER BY id) - 1 AS number, ${RESOURCE} FROM tokens WHERE expires_at > ?2 AND ${BELOW_CHANGED}`,
  end: copyEnded("min(expires_at, ?2)", `tokens WHERE ${BELOW_CHANGED}`),
  delete: `DELETE FROM tokens WHERE ?2 IS NOT NULL AND ${BELOW_CHANGED}`,
};

/**
 * The statements that end the tokens below a person who is changed. They come after the statement that changes the row, and do nothing
 * without it. In: the id, the new hash, and the entry of the change in the admin's log.
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

/** Moves the expired tokens below a token, of which there are few, so that none of them takes the place of another one. */
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
 * Moves the rows of expired tokens out of the allow-list, in slices of 1,000. In: Unix milliseconds, and what gives a call for each
 * slice. Out: how many. For the cron trigger: throws when D1 fails, so that the run shows as failed. The table is read once, whatever the
 * number of slices.
 */
export async function moveExpiredTokens(db: D1Database, now: number, take: Take): Promise<number> {
  let [after, count] = ["", 0];
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
    count += ids.length;
    after = ids.reduce((last, id) => (id > last ? id : last));
  }
  return count;
}
