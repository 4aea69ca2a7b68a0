import { WITHOUT_TOKEN } from "../../model/operation.ts";
import type { Vault } from "../../model/vault.ts";
import { ACTIVITY, type ActivityRow } from "../activity/entries.ts";
import type { Store } from "../d1/database.ts";
import { type IdempotencyRecord, oldestRecord, type RecordRow } from "./idempotency.ts";
import { NEWEST_KEY_ID } from "../vaults/rows.ts";
import type { TokenHashes } from "./rows.ts";

/**
 * The fence of a commit: its first statement inserts the log entries with a `vault_id` that is looked up by the versions
 * of the snapshot. When another coordinator has committed since, the look-up gives NULL, the NOT NULL column refuses it,
 * and D1 rolls the batch back. Every commit increments one of the two versions, so of all commits on one snapshot exactly
 * one succeeds. `updated_at` is compared because a restored database repeats versions. The newest key is compared because
 * rows under a key that the vault does not have would be lost; the commit that adds a key increments a version too.
 *
 * The look-up also requires that no token was revoked, that the tokens are those that were issued, and that the
 * Idempotency-Keys are unused, and that nothing is kept of an Item whose id a client has chosen for a new one: a deleted Item
 * has its versions, and of one whose row was lost Files may be left (contract 10.23). The primary key of the log refuses an operation that took effect before. A snapshot out of the cache assumes
 * all of that.
 */
const isFreeIn = (table: string): string =>
  `AND NOT EXISTS (SELECT 1 FROM ${table} WHERE vault_id = ?1 AND item_id IN (SELECT value FROM json_each(?9)))`;

const FENCED_VAULT = `(
    SELECT id FROM vaults WHERE id = ?1 AND content_version = ?2 AND attribute_version = ?3 AND updated_at = ?4 AND ${NEWEST_KEY_ID} = ?10
      AND NOT EXISTS (SELECT 1 FROM json_each(?6) AS actor WHERE NOT EXISTS (
        SELECT 1 FROM tokens WHERE id = actor.value ->> 0 AND claims = actor.value ->> 1))
      AND NOT EXISTS (
        SELECT 1 FROM replays WHERE vault_id = ?1 AND key IN (SELECT value FROM json_each(?7)) AND replays.id >= ?8)
      AND NOT EXISTS (SELECT 1 FROM items WHERE vault_id = ?1 AND id IN (SELECT value FROM json_each(?9)))
      ${["item_versions", "files", "file_versions"].map(isFreeIn).join(" ")}
  )`;

const FENCED_ENTRIES = `INSERT INTO activity (${ACTIVITY.columns}) SELECT ${FENCED_VAULT}, ${ACTIVITY.values} FROM json_each(?5)`;

/** The fence of operations that changed nothing: they have no log entries, and only their records are written. */
const FENCED_RECORDS = `
  INSERT OR REPLACE INTO replays (vault_id, key, id, sealed)
  SELECT ${FENCED_VAULT}, value ->> 'key', value ->> 'id', value ->> 'sealed' FROM json_each(?5)`;

/** What the fence checks besides the state of the vault. */
interface Assumptions {
  /** The actors of the whole group, including those whose operations write nothing. */
  readonly actors: TokenHashes;
  readonly records: readonly IdempotencyRecord[];
  /** The ids that clients have chosen for new Items. */
  readonly chosen: readonly string[];
}

/** The statement that is the fence and inserts the entries. In: the vault of the snapshot, and the log entries. */
export const fencedEntries = (store: Store, vault: Vault, assumptions: Assumptions, entries: readonly ActivityRow[]) =>
  fenced(FENCED_ENTRIES, store, vault, assumptions, entries);

/** The same for a commit without log entries. In: the rows of its idempotency records. */
export const fencedRecords = (store: Store, vault: Vault, assumptions: Assumptions, rows: readonly RecordRow[]) =>
  fenced(FENCED_RECORDS, store, vault, assumptions, rows);

function fenced(
  sql: string,
  { db, now }: Store,
  { id, contentVersion, attributeVersion, updatedAt, dataKeyId }: Vault,
  { actors, records, chosen }: Assumptions,
  rows: readonly (ActivityRow | RecordRow)[],
): D1PreparedStatement {
  const tokens = [...actors].filter(([actor]) => !WITHOUT_TOKEN.has(actor));
  const lists = [rows, tokens, records.map(({ key }) => key)].map((list) => JSON.stringify(list));
  const values = [
    id,
    contentVersion,
    attributeVersion,
    updatedAt,
    ...lists,
    oldestRecord(now),
    JSON.stringify(chosen),
    dataKeyId,
  ];
  return db.prepare(sql).bind(...values);
}
