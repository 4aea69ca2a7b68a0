import { type Claims, narrowOf, rootOf, TOKEN_CHARACTERS_MAX, type VerifiedClaims } from "../../crypto/token.ts";
import type { Activity } from "../../model/activity.ts";
import { LIMITS } from "../../model/limits.ts";
import { fail, invalid, map, ok, type Result } from "../../model/result.ts";
import { refusesNew } from "../../settings.ts";
import { adminEntryStatement } from "../activity/admin-entry.ts";
import { readBatch, refusalOfWrite, runBatch, type Store } from "../d1/database.ts";
import { checkRootKeys, proofStatement } from "../keys/root-keys.ts";
import { withoutWrongNumbers } from "../tables/numbers.ts";
import { loadForToken } from "../vaults/authorized.ts";
import type { TokenIdentity } from "../vaults/token-check.ts";
import { endExpiredBelow, endToken, IN_BRANCH } from "./ended-tokens.ts";
import { insertTokenRow, makeTokenRow, openToken, signAgain, type TokenRow } from "./token-rows.ts";

/**
 * The tokens, for the admin routes. The table `tokens` is the allow-list. A token that was revoked or has expired moves to
 * `ended_tokens`, where its name stays as long as Items and the log may name it.
 */

const SQL = {
  /**
   * ?13, ?14: the parent and its hash. The parent must not have ended. Limits the number below one parent (?10) of a kind (?8);
   * tokens of the admin routes count with others. One statement, so that D1 counts and inserts atomically.
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
 * Adds a token to the allow-list, under the id of its claims. Returns the token. If the same request has already issued a live
 * token with the id, returns that token. `entry` is the entry of the admin's log. The parent is given with its hash if it may
 * have changed since it was read.
 *
 * Fails with `invalid` if the token would be too long, and with `idempotency` if another token has the id. Fails with
 * `signer_removed` if the key that signed it is gone, with `unauthorized` if the parent has ended, and with `quota`. Fails with
 * `misconfigured` while TOKENS_NOT_BEFORE would refuse the token, and as `refusalOfWrite` does.
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
  const { token, row: made, values } = await makeTokenRow(keyring, claims);
  if (token.length > TOKEN_CHARACTERS_MAX)
    return invalid(`the token would have more than ${TOKEN_CHARACTERS_MAX} characters: name fewer vaults, or shorten its name`);
  const done = await runBatch<[never, never, { id: string }, TokenRow, TokenRow, Pick<TokenRow, "claims">, never, never]>(
    db,
    ...endExpiredBelow(store, rootOf(claims)),
    db.prepare(SQL.insert).bind(...values, parent?.id ?? null, parent?.hash ?? null),
    db.prepare(SQL.live).bind(id),
    db.prepare(SQL.ended).bind(id),
    db.prepare(SQL.hash).bind(parent?.id ?? null),
    await adminEntryStatement(store, entry, made),
    await proofStatement(db, keyring.active),
  );
  if (!done.ok) return refusalOfWrite(done);
  const [, , inserted, [row], ended, [above]] = done.value;
  if (inserted.length > 0) return ok({ claims, token });
  if (parent && (!above || (parent.hash ?? above.claims) !== above.claims)) return fail("unauthorized");
  if (!row && ended.length === 0) return fail("quota", `${LIMITS.tokenDescendants} ${claims.kind ?? "token"}s below one`);
  return row && row.expires_at > now ? issueAgain(store, claims, row) : fail("idempotency");
}

/** Returns the token of a row for a repeated request. Fails with `idempotency`, `signer_removed`, `misconfigured` or `integrity`. */
async function issueAgain({ keyring }: Store, wanted: Claims, row: TokenRow): Promise<Result<IssuedToken>> {
  const signed = await signAgain(keyring, row);
  if (!signed.ok) return signed;
  const { claims, hash } = signed.value;
  return row.claims === hash && requestOf(claims) === requestOf(wanted) ? signed : fail("idempotency");
}

/** Returns the attributes of the requested token as a text. Equal requests give equal texts. */
const requestOf = (claims: Claims): string => {
  const { name, dialect, vaults, issuedAt, expiresAt, binding, stale, delegate, descent, lifetime, rule, managedBy } = claims;
  const scope = Object.entries(vaults).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const asked = descent ? lifetime : expiresAt - issuedAt;
  const more = [descent?.ancestors, rule, managedBy, narrowOf(claims)];
  return JSON.stringify([name, dialect, scope, asked, binding, stale, delegate, ...more]);
};

/**
 * Returns the token of a repeated request if a new token would outlive its parent. Returns undefined if there is none. Fails with
 * `unauthorized` if the parent has ended, and as `insertToken` does.
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

/** A row of `ended_tokens`; without the time of its end, a row of the allow-list. */
export type EndedRow = TokenRow & { ended_at?: number };

/** A token whose row cannot be decrypted, because a root key is missing or the row is damaged. Times are Unix seconds. */
export interface BrokenToken {
  readonly id: string;
  readonly broken: "misconfigured" | "integrity";
  readonly issuedAt: number;
  readonly expiresAt: number;
}

export type ListedToken = (Claims | BrokenToken) & {
  /** Time of revocation or expiry, in Unix milliseconds; absent for a live token. */
  readonly endedAt?: number;
};

/** Returns every token of the allow-list, oldest first. Fails as `listTokens` does, or with `unavailable`. */
export async function loadTokens(store: Store): Promise<Result<ListedToken[]>> {
  const read = await readBatch<[TokenRow]>(store, store.db.prepare(SQL.all));
  return read.ok ? listTokens(store, read.value[0]) : read;
}

/** Returns one token, which may have ended. Fails with `token_not_found`, as `listTokens` does, or with `unavailable`. */
export async function loadToken(store: Store, id: string): Promise<Result<ListedToken>> {
  const read = await runBatch<[TokenRow, EndedRow]>(
    store.db,
    store.db.prepare(SQL.live).bind(id),
    store.db.prepare(SQL.ended).bind(id),
  );
  if (!read.ok) return read;
  const rows = read.value.flat();
  if (rows.length === 0) return fail("token_not_found");
  return map(await listTokens(store, rows), (listed) => listed[0]!);
}

/**
 * Decrypts rows. Fails with `misconfigured` if the root keys do not belong to the database: then no row can be decrypted, and no
 * token is broken.
 */
export async function listTokens(store: Store, rows: readonly EndedRow[]): Promise<Result<ListedToken[]>> {
  const listed = await Promise.all(rows.map((row) => listedToken(store, row)));
  const broken = listed.some((token) => "broken" in token);
  return map(broken ? await checkRootKeys(store.db, store.keyring) : ok(undefined), () => listed);
}

/**
 * Returns the token of a row. A row whose plaintext kind differs from the sealed kind is damaged: the column is only a lookup
 * hint. `ended_tokens` has no such column.
 */
async function listedToken({ keyring, now }: Store, row: EndedRow): Promise<ListedToken> {
  const { id, created_at, expires_at, ended_at: endedAt = expires_at } = withoutWrongNumbers("ended_tokens", row);
  const opened = await openToken(keyring, row);
  const times = { issuedAt: created_at / 1000, expiresAt: expires_at / 1000 };
  const kind = opened.ok || opened.failure.kind !== "misconfigured" ? "integrity" : "misconfigured";
  const isOfKind = opened.ok && (row.kind === undefined || row.kind === (opened.value.kind ?? null));
  const token: Claims | BrokenToken = isOfKind ? opened.value : { id, broken: kind, ...times };
  return endedAt <= now ? { ...token, endedAt } : token;
}

/**
 * The tokens that a token has issued, for that token (contract 8.16). The columns `ancestor_1` to `ancestor_3` find rows; the sealed descent
 * decides. A row that cannot be decrypted shows only its id and times, and its columns decide.
 */

const CHILD_SQL = {
  /** The last ancestor is the issuer of the token. */
  children: `
    SELECT * FROM tokens WHERE ${IN_BRANCH} AND coalesce(ancestor_3, ancestor_2, ancestor_1) = ?1 AND expires_at > ?2
    ORDER BY created_at, id`,
  descendant: `SELECT * FROM tokens WHERE id = ?2 AND id <> ?1 AND ${IN_BRANCH}`,
  ended: "SELECT * FROM ended_tokens WHERE id = ?1",
};

/** Returns the tokens in use that a token has issued, oldest first. Fails with `unauthorized`, `unavailable`, or as `listTokens`. */
export async function loadChildren(store: Store, token: VerifiedClaims): Promise<Result<ListedToken[]>> {
  const read = await loadForToken<[TokenRow]>(store, token, store.db.prepare(CHILD_SQL.children).bind(token.id, store.now));
  const listed = read.ok ? await listTokens(store, read.value[0]) : read;
  return listed.ok ? ok(listed.value.filter((one) => "broken" in one || one.descent?.ancestors.at(-1) === token.id)) : listed;
}

/**
 * Ends a token below another token. An ended token is not changed. `entry` is the entry of the admin's log. Fails with `unauthorized`, with
 * `token_not_found`, also for a token that is not below it, and as `endToken` does.
 */
export async function endDescendant(
  store: Store,
  token: VerifiedClaims,
  id: string,
  entry: Activity,
): Promise<Result<undefined>> {
  const { db } = store;
  const read = await loadForToken<[TokenRow, TokenRow]>(
    store,
    token,
    db.prepare(CHILD_SQL.descendant).bind(token.id, id),
    db.prepare(CHILD_SQL.ended).bind(id),
  );
  if (!read.ok) return read;
  const [[live], [ended]] = read.value;
  const row = live ?? ended;
  const opened = row && (await openToken(store.keyring, row));
  const isBelow = opened?.ok ? opened.value.descent?.ancestors.includes(token.id) : live !== undefined;
  if (!isBelow) return fail("token_not_found");
  return live ? endToken(store, id, entry) : ok(undefined);
}
