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

/** Whether a permission grants everything that another grants. An absent permission, or one of a newer release, grants nothing. */
export function covers(granted: unknown, needed: Permission): boolean {
  const operations: readonly string[] = isPermission(granted) ? PERMISSIONS[granted] : [];
  return PERMISSIONS[needed].every((operation) => operations.includes(operation));
}
