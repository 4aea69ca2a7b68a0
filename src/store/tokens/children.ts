import type { VerifiedClaims } from "../../crypto/token.ts";
import type { Activity } from "../../model/activity.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import type { Store } from "../d1/database.ts";
import { loadForToken } from "../vaults/authorized.ts";
import { endToken, IN_BRANCH } from "./ended-tokens.ts";
import { openToken, type TokenRow } from "./token-rows.ts";
import { type ListedToken, listTokens } from "./tokens.ts";

/** The tokens that a token has issued, for that token (contract 8.16). */

const SQL = {
  /** The last ancestor is the one that has issued the token. */
  children: `
    SELECT * FROM tokens WHERE ${IN_BRANCH} AND coalesce(ancestor_3, ancestor_2, ancestor_1) = ?1 AND expires_at > ?2
    ORDER BY created_at, id`,
  descendant: `SELECT id FROM tokens WHERE id = ?2 AND id <> ?1 AND ${IN_BRANCH}`,
  ended: "SELECT * FROM ended_tokens WHERE id = ?1",
};

/** Those that a token has issued and that are in use, oldest first. Errors: `unauthorized`, those of `listTokens`; `unavailable`. */
export async function loadChildren(store: Store, token: VerifiedClaims): Promise<Result<ListedToken[]>> {
  const read = await loadForToken<[TokenRow]>(store, token, store.db.prepare(SQL.children).bind(token.id, store.now));
  return read.ok ? listTokens(store, read.value[0]) : read;
}

/**
 * Ends a token below another one. One that has ended already is not changed. In: the entry of the admin's log. Errors: `unauthorized`;
 * `token_not_found`, also for a token that is not below; those of `endToken`.
 */
export async function endDescendant(
  store: Store,
  token: VerifiedClaims,
  id: string,
  entry: Activity,
): Promise<Result<undefined>> {
  const { db } = store;
  const read = await loadForToken<[{ id: string }, TokenRow]>(
    store,
    token,
    db.prepare(SQL.descendant).bind(token.id, id),
    db.prepare(SQL.ended).bind(id),
  );
  if (!read.ok) return read;
  const [[living], [row]] = read.value;
  if (living) return endToken(store, id, entry);
  const ended = row && (await openToken(store.keyring, row));
  const isBelow = ended?.ok && ended.value.descent?.ancestors.includes(token.id);
  return isBelow ? ok(undefined) : fail("token_not_found");
}
