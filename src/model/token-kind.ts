/**
 * Kinds of rows in `tokens`, besides tokens issued by the admin or by another token:
 * - a person (contract 25);
 * - an issuer of workload tokens, a rule for them, or a token from an exchange (contract 27);
 * - a token of the admin routes (contract 8.18, 8.19).
 *
 * The checks, rotations, backups and names of tokens therefore apply to all of them.
 */
export const TOKEN_KINDS = ["person", "issuer", "rule", "workload", "admin"] as const;

export type TokenKind = (typeof TOKEN_KINDS)[number];
