import type { VerifiedClaims } from "../../crypto/token.ts";
import type { Activity } from "../../model/activity.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import type { Store } from "../d1/database.ts";
import { loadForToken } from "../vaults/authorized.ts";
import { endToken, IN_BRANCH } from "./ended-tokens.ts";
import { openToken, type TokenRow } from "./token-rows.ts";
import { type ListedToken, listTokens } from "./tokens.ts";

/**
 * The tokens that a token has issued, for that token (contract 8.16). The columns `ancestor_1` to `ancestor_3` find rows; the sealed descent
 * decides. A row that cannot be decrypted shows only its id and times, and its columns decide.
 */

const SQL = {
  /** The last ancestor is the issuer of the token. */
  children: `
    SELECT * FROM tokens WHERE ${IN_BRANCH} AND coalesce(ancestor_3, ancestor_2, ancestor_1) = ?1 AND expires_at > ?2
    ORDER BY created_at, id`,
  descendant: `SELECT * FROM tokens WHERE id = ?2 AND id <> ?1 AND ${IN_BRANCH}`,
  ended: "SELECT * FROM ended_tokens WHERE id = ?1",
};

/** Returns the tokens in use that a token has issued, oldest first. Fails with `unauthorized`, `unavailable`, or as `listTokens`. */
export async function loadChildren(store: Store, token: VerifiedClaims): Promise<Result<ListedToken[]>> {
  const read = await loadForToken<[TokenRow]>(store, token, store.db.prepare(SQL.children).bind(token.id, store.now));
  const listed = read.ok ? await listTokens(store, read.value[0]) : read;
  return listed.ok ? ok(listed.value.filter((one) => "broken" in one || one.descent?.ancestors.at(-1) === token.id)) : listed;
}

/**
 * Ends a token below another token. An ended token is not changed. `entry` is the entry of the admin's log. Fails with
 * `unauthorized`, with `token_not_found`, also for a token that is not below, and as `endToken` does.
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
    db.prepare(SQL.descendant).bind(token.id, id),
    db.prepare(SQL.ended).bind(id),
  );
  if (!read.ok) return read;
  const [[live], [ended]] = read.value;
  const row = live ?? ended;
  const opened = row && (await openToken(store.keyring, row));
  const isBelow = opened?.ok ? opened.value.descent?.ancestors.includes(token.id) : live !== undefined;
  if (!isBelow) return fail("token_not_found");
  return live ? endToken(store, id, entry) : ok(undefined);
}
