import { type IndexedKind, nameIndexes } from "../../crypto/name-index.ts";
import type { Claims } from "../../crypto/token.ts";
import type { Activity } from "../../model/activity.ts";
import type { FailureKind } from "../../model/failure.ts";
import { LIMITS } from "../../model/limits.ts";
import { fail, ok, type Refusal, type Result } from "../../model/result.ts";
import { refusesNew } from "../../settings.ts";
import { adminEntryStatement } from "../activity/admin-entry.ts";
import { refusalOfWrite, runBatch, type Store } from "../d1/database.ts";
import { explainFailure, proofStatement, refuseMissingKey } from "../keys/root-keys.ts";
import { insertTokenRow, makeTokenRow, openToken, type TokenRow } from "./token-rows.ts";

/** The rows of `tokens` with a unique name: people and issuers. */

interface Named {
  /** Returns the name from which the index is made. */
  readonly nameOf: (claims: Claims) => string;
  readonly rowsMax: number;
  /** The failure of a name that another row has. */
  readonly exists: FailureKind;
  readonly plural: string;
}

const NAMED: Readonly<Record<IndexedKind, Named>> = {
  person: { nameOf: ({ name }) => name, rowsMax: LIMITS.people, exists: "person_exists", plural: "people" },
  issuer: { nameOf: ({ issuer }) => issuer!.url, rowsMax: LIMITS.issuers, exists: "issuer_exists", plural: "issuers" },
};

const SQL = {
  /**
   * One statement, so that D1 inserts only one of two racing rows: with one name, or at the limit. ?11: the rule of a person,
   * which must not have ended.
   */
  insert: insertTokenRow(`
    NOT EXISTS (SELECT 1 FROM ended_tokens WHERE id = ?1)
      AND (?11 IS NULL OR EXISTS (SELECT 1 FROM tokens WHERE id = ?11))
      AND NOT EXISTS (SELECT 1 FROM tokens WHERE name_index IN (SELECT value FROM json_each(?13)))
      AND (SELECT count(*) FROM tokens WHERE name_index IS NOT NULL AND kind = ?8) < ?14`),
  one: "SELECT * FROM tokens WHERE id = ?1 AND kind = ?2",
  ended: "SELECT id FROM ended_tokens WHERE id = ?1",
  same: "SELECT id FROM tokens WHERE name_index IN (SELECT value FROM json_each(?1))",
  /** A row whose index matches no root key of this service. */
  unindexed: `
    SELECT root_key_id FROM tokens
    WHERE name_index IS NOT NULL AND kind = ?1 AND root_key_id NOT IN (SELECT value FROM json_each(?2)) LIMIT 1`,
};

type Id = Pick<TokenRow, "id">;

/**
 * Adds a row under the id of the claims. Returns the claims. If the same request has already added the id, returns the claims of that row.
 * `entry` is the entry of the admin's log. Fails with `person_exists` or `issuer_exists`, with `quota`, and with `idempotency` if another row
 * has the id. Fails with `misconfigured` while TOKENS_NOT_BEFORE would refuse the row, and as `refusalOfWrite` does.
 */
export async function insertNamed(
  store: Store,
  claims: Claims & { readonly kind: IndexedKind },
  entry: Activity,
): Promise<Result<Claims>> {
  const { db, keyring } = store;
  const { id, kind } = claims;
  const { nameOf, rowsMax, exists, plural } = NAMED[kind];
  const refusal = refusesNew(store.settings, claims.issuedAt);
  if (refusal !== undefined) return fail("misconfigured", refusal);
  const [{ row: made, values }, indexes] = await Promise.all([
    makeTokenRow(keyring, claims),
    nameIndexes(keyring, kind, nameOf(claims)),
  ]);
  const done = await runBatch<[Id, TokenRow, Id, Id, never, never]>(
    db,
    db.prepare(SQL.insert).bind(...values, JSON.stringify(indexes), rowsMax),
    db.prepare(SQL.one).bind(id, kind),
    db.prepare(SQL.ended).bind(id),
    db.prepare(SQL.same).bind(JSON.stringify(indexes)),
    await adminEntryStatement(store, entry, made),
    await proofStatement(db, keyring.active),
  );
  if (!done.ok) return refusalOfWrite(done);
  const [inserted, [row], ended, same] = done.value;
  if (inserted.length > 0) return ok(claims);
  if (row) return repeated(store, claims, row);
  if (ended.length > 0) return fail("idempotency");
  return same.length > 0 ? fail(exists) : fail("quota", `${rowsMax} ${plural}`);
}

/** Returns the claims of a repeated request. Fails with `idempotency`, `misconfigured` or `integrity`. */
async function repeated({ keyring }: Store, wanted: Claims, row: TokenRow): Promise<Result<Claims>> {
  const opened = await openToken(keyring, row);
  if (!opened.ok) return opened;
  return requestOf(opened.value) === requestOf(wanted) ? opened : fail("idempotency");
}

const requestOf = ({ name, vaults, issuer, admin, managedBy }: Claims): string =>
  JSON.stringify([name, admin, managedBy, Object.entries(vaults).toSorted(([a], [b]) => (a < b ? -1 : 1)), issuer]);

/**
 * Returns a refusal if a row is not found because of the root keys: they are wrong, or the key of a row is missing. This is no fault of the
 * client. Otherwise returns undefined. Fails with `unavailable` too.
 */
export async function explainUnknown(store: Store, kind: IndexedKind): Promise<Refusal | undefined> {
  const { db, keyring } = store;
  const explained = await explainFailure(store);
  if (explained.failure.kind !== "unauthorized") return explained;
  const keys = JSON.stringify([...keyring.keys.keys()]);
  const read = await runBatch<[Pick<TokenRow, "root_key_id">]>(db, db.prepare(SQL.unindexed).bind(kind, keys));
  if (!read.ok) return read;
  const [row] = read.value[0];
  return row && refuseMissingKey(store, row.root_key_id);
}
