import { fail, ok, type Result } from "../../model/result.ts";

/**
 * Compares a token with its row in the allow-list: the row holds a hash of the token that was issued. So a token that was
 * forged with the signing key under the id of another one is refused.
 */

/** The identity of a token: `jti`, and the hash of the whole token (crypto/token.ts). */
export interface TokenIdentity {
  readonly id: string;
  readonly hash: string;
  /** The session that acts as the token: it must not have ended. */
  readonly session?: { readonly id: string } | undefined;
}

/**
 * The parameter of `HASH_OF_TOKEN`: the id of the session or of the token. The id of a session has 64 hexadecimal digits, so it is never
 * the id of a token.
 */
export const holderOf = ({ id, session }: TokenIdentity): string => session?.id ?? id;

/**
 * The hash in the row of the token that the holder ?1 uses: NULL without that row, and for a session also without the row of the session.
 * SQLite does not run the second query for a token that it finds.
 */
export const HASH_OF_TOKEN = `
  coalesce((SELECT claims FROM tokens WHERE id = ?1),
    (SELECT claims FROM sessions JOIN tokens ON tokens.id = token_id WHERE sessions.id = ?1))`;

/** In: what `HASH_OF_TOKEN` gave. Errors: `unauthorized` (revoked, or not the token that was issued). */
export const authorizeToken = ({ hash }: TokenIdentity, stored: string | null): Result<undefined> =>
  stored === hash ? ok(undefined) : fail("unauthorized");
