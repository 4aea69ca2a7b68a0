import type { Vault } from "../../model/vault.ts";
import { ACTIVITY, type ActivityRow } from "../activity/entry-rows.ts";
import type { Store } from "../d1/database.ts";
import { fencedValue } from "../d1/fence.ts";
import { into } from "../tables/statements.ts";
import { TABLES_OF_ITEM } from "../tables/tables.ts";
import { isAsRead, valuesAsRead } from "../vaults/rows.ts";
import { type IdempotencyRecord, oldestRecord, type RecordRow } from "./idempotency.ts";
import type { TokenHashes } from "./rows.ts";

/**
 * The fence of a commit. Its first statement inserts the log entries with a `vault_id` that is NULL unless the vault has the versions of the
 * snapshot (d1/fence.ts). Every commit increments one of the two versions, so of all commits on one snapshot exactly one succeeds.
 * `updated_at` is compared because a restored database repeats versions. The newest key is compared because rows under a key that the vault
 * lacks would be lost. The commit that adds a key increments a version too.
 *
 * The fence also requires that the tokens are those issued and are not revoked, and that the Idempotency-Keys are unused. If a client has
 * chosen the id of a new Item, no rows may exist for the id: a deleted Item has versions, and an Item whose row was lost may have Files
 * (contract 10.23). The primary key of the log refuses an operation that took effect before. A snapshot from the cache assumes all of these.
 */
const HOLDS = `${isAsRead()}
  AND NOT EXISTS (SELECT 1 FROM json_each(?7) AS token WHERE NOT EXISTS (
    SELECT 1 FROM tokens WHERE id = token.value ->> 0 AND claims = token.value ->> 1))
  AND NOT EXISTS (SELECT 1 FROM replays WHERE vault_id = ?1 AND key IN (SELECT value FROM json_each(?8)) AND replays.id >= ?9)
  ${TABLES_OF_ITEM.filter(({ name }) => name !== "deleted_items")
    .map(
      ({ name, item }) =>
        `AND NOT EXISTS (SELECT 1 FROM ${name} WHERE vault_id = ?1 AND ${item} IN (SELECT value FROM json_each(?10)))`,
    )
    .join(" ")}`;

const FENCED_VAULT = fencedValue(HOLDS, "?1");

const FENCED_ENTRIES = `INSERT INTO activity (${ACTIVITY.columns}) SELECT ${FENCED_VAULT}, ${ACTIVITY.values} FROM json_each(?6)`;

/** The fence of operations that changed nothing: they have no log entries, and only their records are written. */
const FENCED_RECORDS = `
  INSERT OR REPLACE ${into("replays")}
  SELECT ${FENCED_VAULT}, value ->> 'key', value ->> 'id', value ->> 'sealed' FROM json_each(?6)`;

/** The conditions of the fence besides the state of the vault. */
interface Assumptions {
  /** The tokens of the whole group, including operations that write nothing. */
  readonly tokens: TokenHashes;
  readonly records: readonly IdempotencyRecord[];
  /** The ids that clients have chosen for new Items. */
  readonly chosen: readonly string[];
}

/** Returns the statement that is the fence and inserts the log entries. `vault` is the vault of the snapshot. */
export const fencedEntries = (store: Store, vault: Vault, assumptions: Assumptions, entries: readonly ActivityRow[]) =>
  fenced(FENCED_ENTRIES, store, vault, assumptions, entries);

/** Returns the fence of a commit without log entries. `rows` are its idempotency records. */
export const fencedRecords = (store: Store, vault: Vault, assumptions: Assumptions, rows: readonly RecordRow[]) =>
  fenced(FENCED_RECORDS, store, vault, assumptions, rows);

function fenced(
  sql: string,
  { db, now }: Store,
  vault: Vault,
  { tokens, records, chosen }: Assumptions,
  rows: readonly (ActivityRow | RecordRow)[],
): D1PreparedStatement {
  const lists = [rows, [...tokens], records.map(({ key }) => key)].map((list) => JSON.stringify(list));
  return db.prepare(sql).bind(...valuesAsRead(vault), ...lists, oldestRecord(now), JSON.stringify(chosen));
}
