import { type Claims, hashToken, signToken, TOKEN_CHARACTERS_MAX } from "../../crypto/token.ts";
import type { Activity } from "../../model/activity.ts";
import { fail, invalid, ok, type Result } from "../../model/result.ts";
import { possibleTime } from "../../model/time.ts";
import { adminEntryStatement } from "../activity/admin-entry.ts";
import { refusalOfWrite, runBatch, type Store } from "../d1/database.ts";
import { checkRootKeys, proofStatement } from "../keys/root-keys.ts";
import { openToken, sealToken, signAgain, type TokenRow } from "./token-rows.ts";

/**
 * The tokens, for the admin routes. The table `tokens` is the allow-list. A token that was revoked or has expired moves to
 * `ended_tokens`, where its name stays as long as Items and the log may name it.
 */

const SQL = {
  insert: `
    INSERT INTO tokens (id, root_key_id, sealed, created_at, expires_at, claims, signed_by) SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?2
    WHERE NOT EXISTS (SELECT 1 FROM ended_tokens WHERE id = ?1)
    ON CONFLICT (id) DO NOTHING RETURNING id`,
  live: "SELECT * FROM tokens WHERE id = ?1",
  ended: "SELECT * FROM ended_tokens WHERE id = ?1",
  // People have a list of their own (people.ts).
  all: "SELECT * FROM tokens WHERE person IS NULL ORDER BY created_at, id",
};

/** A token that was issued, with its claims. */
export interface IssuedToken {
  readonly claims: Claims;
  readonly token: string;
}

/**
 * Adds a token to the allow-list, under the id of its claims. Out: the token; when the id is in use for a live token with the
 * same name, dialect, vaults and lifetime, that token. In: the entry of the admin's log.
 * Errors: `invalid`, when it would be too long; `idempotency`, when it is in use otherwise; `signer_removed`, when the key that signed it is gone; those of `refusalOfWrite`.
 */
export async function insertToken(store: Store, claims: Claims, entry: Activity): Promise<Result<IssuedToken>> {
  const { db, keyring } = store;
  const { id, issuedAt, expiresAt } = claims;
  const root = keyring.active;
  const token = await signToken(keyring, claims);
  if (token.length > TOKEN_CHARACTERS_MAX)
    return invalid(`the token would have more than ${TOKEN_CHARACTERS_MAX} characters: name fewer vaults, or shorten its name`);
  const hash = await hashToken(token);
  const values = [id, root.id, await sealToken(root, claims), issuedAt * 1000, expiresAt * 1000, hash];
  const done = await runBatch<[{ id: string }, TokenRow, never, never]>(
    db,
    db.prepare(SQL.insert).bind(...values),
    db.prepare(SQL.live).bind(id),
    await adminEntryStatement(store, entry, { id, hash }),
    await proofStatement(db, root),
  );
  if (!done.ok) return refusalOfWrite(done);
  const [inserted, [row]] = done.value;
  if (inserted.length > 0) return ok({ claims, token });
  return row && row.expires_at > store.now ? issueAgain(store, claims, row) : fail("idempotency");
}

/** The token of a row, for a request that was repeated. Errors: `idempotency`, `signer_removed`, `misconfigured`, `integrity`. */
async function issueAgain({ keyring }: Store, wanted: Claims, row: TokenRow): Promise<Result<IssuedToken>> {
  const signed = await signAgain(keyring, row);
  if (!signed.ok) return signed;
  const { claims, hash } = signed.value;
  return row.claims === hash && requestOf(claims) === requestOf(wanted) ? signed : fail("idempotency");
}

/** The attributes of the requested token, as a text that is equal for equal requests. */
const requestOf = ({ name, dialect, vaults, issuedAt, expiresAt, binding, stale }: Claims): string => {
  const scope = Object.entries(vaults).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([name, dialect, scope, expiresAt - issuedAt, binding, stale]);
};

/** A row of `ended_tokens`, or without the time of its end one of the allow-list. */
type EndedRow = TokenRow & { ended_at?: number };

/** The attributes of a token whose row does not open because a root key is missing or the row is damaged. Times are Unix seconds. */
export interface BrokenToken {
  readonly id: string;
  readonly broken: "misconfigured" | "integrity";
  readonly issuedAt: number;
  readonly expiresAt: number;
}

export type ListedToken = (Claims | BrokenToken) & {
  /** When it was revoked or expired, in Unix milliseconds; absent while it is in use. */
  readonly endedAt?: number;
};

/** Every token of the allow-list, oldest first. Errors: those of `listTokens`; `unavailable`. */
export async function loadTokens(store: Store): Promise<Result<ListedToken[]>> {
  const read = await runBatch<[TokenRow]>(store.db, store.db.prepare(SQL.all));
  return read.ok ? listTokens(store, read.value[0]) : read;
}

/** One token, also one that has ended. Errors: `token_not_found`, those of `listTokens`; `unavailable`. */
export async function loadToken(store: Store, id: string): Promise<Result<ListedToken>> {
  const read = await runBatch<[TokenRow, EndedRow]>(
    store.db,
    store.db.prepare(SQL.live).bind(id),
    store.db.prepare(SQL.ended).bind(id),
  );
  if (!read.ok) return read;
  const rows = read.value.flat();
  if (rows.length === 0) return fail("token_not_found");
  const listed = await listTokens(store, rows);
  return listed.ok ? ok(listed.value[0]!) : listed;
}

/** Opens rows. Errors: `misconfigured`, when the root keys are not those of the database: then no row opens, and no token is broken. */
export async function listTokens(store: Store, rows: readonly EndedRow[]): Promise<Result<ListedToken[]>> {
  const listed = await Promise.all(rows.map((row) => listedToken(store, row)));
  const broken = listed.some((token) => "broken" in token);
  const checked = broken ? await checkRootKeys(store.db, store.keyring) : ok(undefined);
  return checked.ok ? ok(listed) : checked;
}

async function listedToken({ keyring, now }: Store, row: EndedRow): Promise<ListedToken> {
  const { id, created_at, expires_at } = row;
  const endedAt = possibleTime(row.ended_at ?? expires_at);
  const opened = await openToken(keyring, row);
  const times = { issuedAt: possibleTime(created_at) / 1000, expiresAt: possibleTime(expires_at) / 1000 };
  const kind = opened.ok || opened.failure.kind !== "misconfigured" ? "integrity" : "misconfigured";
  const token: Claims | BrokenToken = opened.ok ? opened.value : { id, broken: kind, ...times };
  return endedAt <= now ? { ...token, endedAt } : token;
}
