import { type Claims, rootOf, TOKEN_CHARACTERS_MAX } from "../../crypto/token.ts";
import type { Activity } from "../../model/activity.ts";
import { LIMITS } from "../../model/limits.ts";
import { fail, invalid, ok, type Result } from "../../model/result.ts";
import { possibleTime } from "../../model/time.ts";
import { refusesNew } from "../../settings.ts";
import { adminEntryStatement } from "../activity/admin-entry.ts";
import { readBatch, refusalOfWrite, runBatch, type Store } from "../d1/database.ts";
import { checkRootKeys, proofStatement } from "../keys/root-keys.ts";
import { loadForToken } from "../vaults/authorized.ts";
import type { TokenIdentity } from "../vaults/token-check.ts";
import { endExpiredBelow } from "./ended-tokens.ts";
import { insertTokenRow, makeTokenRow, openToken, signAgain, type TokenRow } from "./token-rows.ts";

/**
 * The tokens, for the admin routes. The table `tokens` is the allow-list. A token that was revoked or has expired moves to
 * `ended_tokens`, where its name stays as long as Items and the log may name it.
 */

const SQL = {
  /**
   * ?13, ?14: the parent and its hash; the parent must not have ended. Of a kind (?8), so many are below one (?10); tokens of the admin
   * routes count with others. One statement, so that D1 counts and inserts at one moment.
   */
  insert: insertTokenRow(`
    NOT EXISTS (SELECT 1 FROM ended_tokens WHERE id = ?1)
      AND (?13 IS NULL OR (
        EXISTS (SELECT 1 FROM tokens WHERE id = ?13 AND (?14 IS NULL OR claims = ?14))
        AND (SELECT count(*) FROM tokens WHERE ancestor_1 = ?10 AND coalesce(kind, 'admin') = coalesce(?8, 'admin')) < ${LIMITS.tokenDescendants}))`),
  hash: "SELECT claims FROM tokens WHERE id = ?1",
  live: "SELECT * FROM tokens WHERE id = ?1",
  ended: "SELECT * FROM ended_tokens WHERE id = ?1",
  // People have a list of their own (people.ts), and so have issuers and rules.
  all: "SELECT * FROM tokens WHERE kind IS NULL OR kind = 'admin' ORDER BY created_at, id",
};

/** A token that was issued, with its claims. */
export interface IssuedToken {
  readonly claims: Claims;
  readonly token: string;
}

/**
 * Adds a token to the allow-list, under the id of its claims. Out: the token; when the id is in use for a live token that the same request
 * would have issued, that token. In: the entry of the admin's log; what is above it, with its hash
 * where it may have changed since it was read.
 * Errors: `invalid`, when it would be too long; `idempotency`, when it is in use otherwise; `signer_removed`, when the key that signed it
 * is gone; `unauthorized`, when the parent has ended; `quota`; `misconfigured`, while TOKENS_NOT_BEFORE would refuse the token; those of `refusalOfWrite`.
 */
export async function insertToken(
  store: Store,
  claims: Claims,
  entry: Activity,
  parent?: { readonly id: string; readonly hash?: string },
): Promise<Result<IssuedToken>> {
  const { db, keyring, now } = store;
  const { id } = claims;
  const refusal = refusesNew(store.settings, claims.issuedAt);
  if (refusal !== undefined) return fail("misconfigured", refusal);
  const { token, hash, values } = await makeTokenRow(keyring, claims);
  if (token.length > TOKEN_CHARACTERS_MAX)
    return invalid(`the token would have more than ${TOKEN_CHARACTERS_MAX} characters: name fewer vaults, or shorten its name`);
  const done = await runBatch<[never, never, { id: string }, TokenRow, TokenRow, Pick<TokenRow, "claims">, never, never]>(
    db,
    ...endExpiredBelow(store, rootOf(claims)),
    db.prepare(SQL.insert).bind(...values, parent?.id ?? null, parent?.hash ?? null),
    db.prepare(SQL.live).bind(id),
    db.prepare(SQL.ended).bind(id),
    db.prepare(SQL.hash).bind(parent?.id ?? null),
    await adminEntryStatement(store, entry, { id, hash }),
    await proofStatement(db, keyring.active),
  );
  if (!done.ok) return refusalOfWrite(done);
  const [, , inserted, [row], ended, [above]] = done.value;
  if (inserted.length > 0) return ok({ claims, token });
  if (parent && (!above || (parent.hash ?? above.claims) !== above.claims)) return fail("unauthorized");
  if (!row && ended.length === 0) return fail("quota", `${LIMITS.tokenDescendants} ${claims.kind ?? "token"}s below one`);
  return row && row.expires_at > now ? issueAgain(store, claims, row) : fail("idempotency");
}

/** The token of a row, for a request that was repeated. Errors: `idempotency`, `signer_removed`, `misconfigured`, `integrity`. */
async function issueAgain({ keyring }: Store, wanted: Claims, row: TokenRow): Promise<Result<IssuedToken>> {
  const signed = await signAgain(keyring, row);
  if (!signed.ok) return signed;
  const { claims, hash } = signed.value;
  return row.claims === hash && requestOf(claims) === requestOf(wanted) ? signed : fail("idempotency");
}

/** The attributes of the requested token, as a text that is equal for equal requests. */
const requestOf = ({
  name,
  dialect,
  vaults,
  issuedAt,
  expiresAt,
  binding,
  stale,
  delegate,
  descent,
  lifetime,
  rule,
  backupsOnly,
}: Claims): string => {
  const scope = Object.entries(vaults).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const asked = descent ? lifetime : expiresAt - issuedAt;
  return JSON.stringify([name, dialect, scope, asked, binding, stale, delegate, descent?.ancestors, rule, backupsOnly]);
};

/**
 * The token of a request that was repeated when a new one would live longer than its parent. Out: `undefined` when there is none. Errors:
 * `unauthorized`, when the parent has ended; those of `insertToken`.
 */
export async function loadRepeated(
  store: Store,
  claims: Claims,
  parent: TokenIdentity,
): Promise<Result<IssuedToken | undefined>> {
  const read = await loadForToken<[TokenRow]>(store, parent, store.db.prepare(SQL.live).bind(claims.id));
  if (!read.ok) return read;
  const [row] = read.value[0];
  return row ? issueAgain(store, claims, row) : ok(undefined);
}

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
  const read = await readBatch<[TokenRow]>(store, store.db.prepare(SQL.all));
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

/** A row whose plaintext kind is not the sealed one is damaged: the column only finds rows. `ended_tokens` has no such column. */
async function listedToken({ keyring, now }: Store, row: EndedRow): Promise<ListedToken> {
  const { id, created_at, expires_at } = row;
  const endedAt = possibleTime(row.ended_at ?? expires_at);
  const opened = await openToken(keyring, row);
  const times = { issuedAt: possibleTime(created_at) / 1000, expiresAt: possibleTime(expires_at) / 1000 };
  const kind = opened.ok || opened.failure.kind !== "misconfigured" ? "integrity" : "misconfigured";
  const isOfKind = opened.ok && (row.kind === undefined || row.kind === (opened.value.kind ?? null));
  const token: Claims | BrokenToken = isOfKind ? opened.value : { id, broken: kind, ...times };
  return endedAt <= now ? { ...token, endedAt } : token;
}
