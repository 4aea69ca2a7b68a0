/** What a token may do in a vault (contract 8). */

/**
 * Each permission, with the operations that it grants: `l` lists Items without their fields, `r` reads them too, `w` writes, `d` destroys
 * versions and deleted Items.
 */
export const PERMISSIONS = {
  l: ["l"],
  r: ["l", "r"],
  w: ["w"],
  d: ["d"],
  lw: ["l", "w"],
  ld: ["l", "d"],
  rw: ["l", "r", "w"],
  rd: ["l", "r", "d"],
  wd: ["w", "d"],
  lwd: ["l", "w", "d"],
  rwd: ["l", "r", "w", "d"],
} as const;

export type Permission = keyof typeof PERMISSIONS;

export const isPermission = (value: unknown): value is Permission =>
  typeof value === "string" && Object.hasOwn(PERMISSIONS, value);

export type Operation = (typeof PERMISSIONS)[Permission][number];

/** The permission that grants exactly these operations; `undefined` for none, and for `r` without `l`. */
export const permissionOf = (operations: readonly Operation[]): Permission | undefined =>
  (Object.keys(PERMISSIONS) as Permission[]).find(
    (one) => PERMISSIONS[one].length === operations.length && operations.every((operation) => covers(one, operation)),
  );

/** Each operation, as the refusal of a token without it names it: "the token may not … vault <v>". */
const WORDS: Readonly<Record<Operation, string>> = { l: "list", r: "read", w: "write to", d: "destroy in" };

/**
 * The first operation that a permission lacks of another, in words. Out: `undefined` when it lacks none, or grants nothing at
 * all: then the vault is outside of the token.
 */
export function missing(granted: unknown, needed: Permission): string | undefined {
  if (!isPermission(granted)) return undefined;
  // The letters of the permission, because `r` is lacking where both `l` and `r` are.
  const lacks = ([...needed] as Operation[]).find((letter) => !covers(granted, letter));
  return lacks && WORDS[lacks];
}

/** The ids of the vaults in which a token has a permission. */
export const vaultsWith = (needed: Permission, { vaults }: { readonly vaults: Readonly<Record<string, Permission>> }): string[] =>
  Object.keys(vaults).filter((vault) => covers(vaults[vault], needed));

/** Whether a permission grants everything that another grants. An absent permission, or one of a newer release, grants nothing. */
export function covers(granted: unknown, needed: Permission): boolean {
  const operations: readonly string[] = isPermission(granted) ? PERMISSIONS[granted] : [];
  return PERMISSIONS[needed].every((operation) => operations.includes(operation));
}
