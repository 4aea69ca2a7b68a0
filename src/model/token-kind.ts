/**
 * What a row of `tokens` is, besides a token that the admin or another token has issued: a person (contract 25), an issuer of workload
 * tokens, a rule for them, or a token that was exchanged for one (contract 27); a token of the admin routes (contract 8.18, 8.19). So the
 * checks, rotations, backups and names of tokens apply to it too.
 */
export const TOKEN_KINDS = ["person", "issuer", "rule", "workload", "admin"] as const;

export type TokenKind = (typeof TOKEN_KINDS)[number];
