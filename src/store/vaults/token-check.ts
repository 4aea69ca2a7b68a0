import { fail, ok, type Result } from "../../model/result.ts";

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
 * The hash in the row of the token of the holder ?1: NULL without a row, of a session also without its own row. SQLite does not run the
 * second query for a token that it finds.
 */
export const HASH_OF_TOKEN = `
  coalesce((SELECT claims FROM tokens WHERE id = ?1),
    (SELECT claims FROM sessions JOIN tokens ON tokens.id = token_id WHERE sessions.id = ?1))`;

/** In: what `HASH_OF_TOKEN` gave. Errors: `unauthorized` (revoked, or not the token that was issued). */
export const authorizeToken = ({ hash }: TokenIdentity, stored: string | null): Result<undefined> =>
  stored === hash ? ok(undefined) : fail("unauthorized");
