import { fail, ok, type Result } from "../../model/result.ts";

/**
 * Compares a token with its row in the allow-list, which holds a hash of the issued token. A token forged with the signing key
 * under the id of another token is therefore refused.
 */

/** The identity of a token: `jti`, and the hash of the whole token (crypto/token.ts). */
export interface TokenIdentity {
  readonly id: string;
  readonly hash: string;
  /** The session that acts as the token: it must not have ended. */
  readonly session?: { readonly id: string } | undefined;
}

/**
 * Returns the parameter of `HASH_OF_TOKEN`: the id of the session or of the token. The id of a session has 64 hexadecimal digits,
 * so it is never a token's id.
 */
export const holderOf = ({ id, session }: TokenIdentity): string => session?.id ?? id;

/**
 * The hash in the row of the token that the holder ?1 uses: NULL without that row, and for a session also without the row of the session.
 * SQLite does not run the second query for a token that it finds.
 */
export const HASH_OF_TOKEN = `
  coalesce((SELECT claims FROM tokens WHERE id = ?1),
    (SELECT claims FROM sessions JOIN tokens ON tokens.id = token_id WHERE sessions.id = ?1))`;

/** Compares a token with the result of `HASH_OF_TOKEN`. Fails with `unauthorized` (revoked, or not the issued token). */
export const authorizeToken = ({ hash }: TokenIdentity, stored: string | null): Result<undefined> =>
  stored === hash ? ok(undefined) : fail("unauthorized");
