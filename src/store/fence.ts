import { ADMIN } from "../model/operation.ts";
import type { Vault } from "../model/vault.ts";
import { ACTIVITY, type ActivityRow } from "./activity.ts";
import type { Store } from "./database.ts";
import { oldestReplay, type Replay } from "./replays.ts";

/**
 * The fence: the first statement of a commit inserts its entries into the log with `vault_id` looked up by the versions
 * that the snapshot had. When another coordinator has committed since, that look-up gives NULL, the NOT NULL column refuses
 * it, and D1 rolls the batch back. Every commit moves one of the two versions, so of all commits on one snapshot one
 * succeeds. (The time is there for a restored database, which repeats versions.)
 *
 * It looks too whether the tokens are still in and the Idempotency-Keys still unused, and the key of the log refuses an
 * operation that took effect before: a snapshot out of memory takes all that for granted.
 */
const ENTRIES = `
  INSERT INTO activity (${ACTIVITY.columns})
  SELECT (
    SELECT id FROM vaults WHERE id = ?1 AND content_version = ?2 AND attribute_version = ?3 AND updated_at = ?4
      AND NOT EXISTS (SELECT 1 FROM json_each(?6) AS actor WHERE NOT EXISTS (SELECT 1 FROM tokens WHERE id = actor.value))
      AND NOT EXISTS (
        SELECT 1 FROM replays WHERE vault_id = ?1 AND key IN (SELECT value FROM json_each(?7)) AND replays.id >= ?8)
  ), ${ACTIVITY.values}
  FROM json_each(?5)`;

/** What a commit rests on, beside the state of its vault. */
interface Rests {
  /** All of the group, those too that are only told something: each has to be in still. */
  readonly actors: readonly string[];
  readonly replays: readonly Replay[];
}

/** The statement that is fence and entries. In: the vault as the snapshot had it, and the entries as they are to be inserted. */
export function fencedEntries(
  { db, now }: Store,
  { id, contentVersion, attributeVersion, updatedAt }: Vault,
  { actors, replays }: Rests,
  entries: readonly ActivityRow[],
): D1PreparedStatement {
  const tokens = actors.filter((actor) => actor !== ADMIN);
  const lists = [entries, tokens, replays.map(({ key }) => key)].map((list) => JSON.stringify(list));
  return db.prepare(ENTRIES).bind(id, contentVersion, attributeVersion, updatedAt, ...lists, oldestReplay(now));
}
