/**
 * What a row of `tokens` is besides a token that the admin or another token has issued. So the checks, rotations, backups and names of tokens
 * apply to it too.
 */
export const TOKEN_KINDS = ["person"] as const;

export type TokenKind = (typeof TOKEN_KINDS)[number];
