import { fail, ok, type Result } from "../../model/result.ts";
import { isUnheld } from "../../crypto/token.ts";
import { runBatch, type Store } from "../d1/database.ts";
import { signAgain, type TokenRow } from "./token-rows.ts";

/**
 * Compares a token with its row in the allow-list: the row holds a hash of the token that was issued. So a token that was
 * forged with the signing key under the id of another one is refused.
 */

/** What identifies a token: `jti`, and the hash of the whole token (crypto/token.ts). */
export interface TokenIdentity {
  readonly id: string;
  readonly hash: string;
  /** The session that acts as the token: it must not have ended. */
  readonly session?: { readonly id: string } | undefined;
}

/** What `HASH_OF_TOKEN` looks up: the id of the session, which is 64 hexadecimal digits and so never that of a token, or of the token. */
export const holderOf = ({ id, session }: TokenIdentity): string => session?.id ?? id;

/**
 * The hash in the row of the token of the holder ?1: NULL without a row, of a session also without its own row; empty in a row of
 * schema 1 that has no hash yet. SQLite does not run the second query for a token that it finds.
 */
export const HASH_OF_TOKEN = `
  coalesce((SELECT coalesce(claims, '') FROM tokens WHERE id = ?1),
    (SELECT coalesce(claims, '') FROM sessions JOIN tokens ON tokens.id = token_id WHERE sessions.id = ?1))`;

/** In: what `HASH_OF_TOKEN` gave. Errors: `unauthorized` (revoked, or not the token that was issued), `unavailable`. */
export async function authorizeToken(
  store: Store,
  { id, hash }: TokenIdentity,
  stored: string | null,
): Promise<Result<undefined>> {
  if (stored === null) return fail("unauthorized");
  const hashes = stored === "" ? await addHashes(store, [id]) : ok(new Map([[id, stored]]));
  if (!hashes.ok) return hashes;
  return hashes.value.get(id) === hash ? ok(undefined) : fail("unauthorized");
}

const SQL = {
  rows: "SELECT * FROM tokens WHERE id IN (SELECT value FROM json_each(?1))",
  addHash: "UPDATE tokens SET claims = ?2 WHERE id = ?1 AND claims IS NULL",
};

/**
 * Gives rows of schema 1 their hashes: each row is opened and its token signed again. Out: the hashes by token id. A row that
 * does not open gets none, so its token is refused; nor does one whose text nobody has: such rows have had a hash from the beginning, so
 * one whose hash was removed is never trusted. Errors: `unavailable`.
 */
export async function addHashes({ db, keyring }: Store, ids: readonly string[]): Promise<Result<ReadonlyMap<string, string>>> {
  const hashes = new Map<string, string>();
  const read = await runBatch<[TokenRow]>(db, db.prepare(SQL.rows).bind(JSON.stringify(ids)));
  if (!read.ok) return read;
  for (const row of read.value[0]) {
    const signed = await signAgain(keyring, row);
    if (signed.ok && !isUnheld(signed.value.claims)) hashes.set(row.id, row.claims ?? signed.value.hash);
  }
  const updates = [...hashes].map(([id, hash]) => db.prepare(SQL.addHash).bind(id, hash));
  const updated: Result<unknown> = updates.length > 0 ? await runBatch(db, ...updates) : ok(undefined);
  return updated.ok ? ok(hashes) : updated;
}
