/** The permissions of a token in a vault (contract 8). */

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

/** Returns the permission that grants exactly these operations; `undefined` for none, and for `r` without `l`. */
export const permissionOf = (operations: readonly Operation[]): Permission | undefined =>
  (Object.keys(PERMISSIONS) as Permission[]).find(
    (one) => PERMISSIONS[one].length === operations.length && operations.every((operation) => covers(one, operation)),
  );

/** Each operation, as the refusal of a token without it names it: "the token may not … vault <v>". */
const WORDS: Readonly<Record<Operation, string>> = { l: "list", r: "read", w: "write to", d: "destroy in" };

/**
 * Returns the first operation of `needed` that `granted` lacks, in words. Returns undefined if none is missing, or if nothing is
 * granted: the vault is then outside the token's scope.
 */
export function missing(granted: unknown, needed: Permission): string | undefined {
  if (!isPermission(granted)) return undefined;
  // The letters of the permission, because `r` is lacking where both `l` and `r` are.
  const lacks = ([...needed] as Operation[]).find((letter) => !covers(granted, letter));
  return lacks && WORDS[lacks];
}

/** Returns true if `granted` includes every operation of `needed`. An absent permission, or one of a newer release, grants nothing. */
export function covers(granted: unknown, needed: Permission): boolean {
  const operations: readonly string[] = isPermission(granted) ? PERMISSIONS[granted] : [];
  return PERMISSIONS[needed].every((operation) => operations.includes(operation));
}
