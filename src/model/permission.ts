/** What a token may do in a vault (contract 8). */

/**
 * Each permission, with the operations that it grants: `r` reads, `w` writes, `d` destroys versions and deleted Items. A token
 * that was issued before there was a `d` lacks it.
 */
export const PERMISSIONS = {
  r: ["r"],
  w: ["w"],
  d: ["d"],
  rw: ["r", "w"],
  rd: ["r", "d"],
  wd: ["w", "d"],
  rwd: ["r", "w", "d"],
} as const;

export type Permission = keyof typeof PERMISSIONS;

export const isPermission = (value: unknown): value is Permission =>
  typeof value === "string" && Object.hasOwn(PERMISSIONS, value);

type Operation = (typeof PERMISSIONS)[Permission][number];

/** Each operation, as the refusal of a token without it names it: "the token may not … vault <v>". */
const WORDS: Readonly<Record<Operation, string>> = { r: "read", w: "write to", d: "destroy in" };

/**
 * The first operation that a permission lacks of another, in words. Out: `undefined` when it lacks none, or grants nothing at
 * all: then the vault is outside of the token.
 */
export function missing(granted: unknown, needed: Permission): string | undefined {
  if (!isPermission(granted)) return undefined;
  const lacks = PERMISSIONS[needed].find((operation) => !covers(granted, operation));
  return lacks && WORDS[lacks];
}

/** The ids of the vaults that a token reads. */
export const readableVaults = ({ vaults }: { readonly vaults: Readonly<Record<string, Permission>> }): string[] =>
  Object.keys(vaults).filter((vault) => covers(vaults[vault], "r"));

/** Whether a permission grants everything that another grants. An absent permission, or one of a newer release, grants nothing. */
export function covers(granted: unknown, needed: Permission): boolean {
  const operations: readonly string[] = isPermission(granted) ? PERMISSIONS[granted] : [];
  return PERMISSIONS[needed].every((operation) => operations.includes(operation));
}
