/**
 * Kinds of rows in `tokens`, besides tokens issued by the admin or by another token:
 * - a person (contract 25);
 * - an issuer of workload tokens, a rule for them, or a token from an exchange (contract 27);
 * - a token of the admin routes (contract 8.18 to 8.20).
 *
 * The checks, rotations, backups and names of tokens therefore apply to all of them.
 */
export const TOKEN_KINDS = ["person", "issuer", "rule", "workload", "admin"] as const;

export type TokenKind = (typeof TOKEN_KINDS)[number];

/**
 * The tokens of the admin routes that serve only some of them, by their attribute, with the purpose of such a token. An operation names the
 * attribute.
 */
export const NARROW_ADMIN = {
  backupsOnly: "only reads backups (contract 8.19)",
  adminRead: "only reads the lists of the admin (contract 8.20)",
} as const;

export type NarrowAdmin = keyof typeof NARROW_ADMIN;

export const NARROW_ADMIN_NAMES = Object.keys(NARROW_ADMIN) as NarrowAdmin[];

/** Returns an object with a value for each narrow token of the admin routes. */
export const byNarrowAdmin = <T>(valueOf: (name: NarrowAdmin) => T) =>
  Object.fromEntries(NARROW_ADMIN_NAMES.map((name) => [name, valueOf(name)])) as Record<NarrowAdmin, T>;
