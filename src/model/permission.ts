import { LIMITS } from "./limits.ts";
import { fail, invalid, type Refusal } from "./result.ts";

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
  // The letters of the permission: `r` is lacking if both `l` and `r` are.
  const lacks = ([...needed] as Operation[]).find((letter) => !covers(granted, letter));
  return lacks && WORDS[lacks];
}

/** Returns true if `granted` includes every operation of `needed`. An absent permission, or one of a newer release, grants nothing. */
export function covers(granted: unknown, needed: Permission): boolean {
  const operations: readonly string[] = isPermission(granted) ? PERMISSIONS[granted] : [];
  return PERMISSIONS[needed].every((operation) => operations.includes(operation));
}

/** The scope of a token in a vault: a permission for the whole vault, or for some of its Items only (contract 8.15). */
export type VaultScope = Permission | ItemScope;

export interface ItemScope {
  readonly permissions: Permission;
  /** Canonical ids. Outside of them no Item exists for the token. */
  readonly items: readonly string[];
}

/** The scope of a token, by canonical vault ids. */
export type Scope = Readonly<Record<string, VaultScope>>;

/** Returns true for a restriction to Items. An object with other attributes, which a newer release may have issued, is not accepted. */
const isItemScope = (scope: unknown): scope is ItemScope =>
  typeof scope === "object" &&
  scope !== null &&
  "items" in scope &&
  Array.isArray(scope.items) &&
  Object.keys(scope).toSorted().join() === "items,permissions";

/** Returns the permission of a scope. Returns undefined without a permission, or for one of a newer release. */
export function permissionIn(scope: unknown): Permission | undefined {
  const permission = isItemScope(scope) ? scope.permissions : scope;
  return isPermission(permission) ? permission : undefined;
}

/** Returns the Items to which a scope is restricted, or undefined if it is for the whole vault. */
export const itemsIn = (scope: unknown): ReadonlySet<string> | undefined =>
  isItemScope(scope) ? new Set(scope.items) : undefined;

/** Returns true if a scope includes an Item of the vault. */
export const isForItem = (scope: unknown, item: string): boolean => itemsIn(scope)?.has(item) ?? true;

/** Returns true if `scope` allows everything that `other` allows. An absent scope allows nothing. */
export function contains(scope: unknown, other: VaultScope): boolean {
  const needed = permissionIn(other);
  const [items, others] = [itemsIn(scope), itemsIn(other)];
  const covered = needed !== undefined && covers(permissionIn(scope), needed);
  return covered && (items === undefined || (others !== undefined && [...others].every((item) => items.has(item))));
}

/** Returns the ids of the vaults in which a token has a permission, even if only for some Items. */
export const vaultsWith = (needed: Permission, { vaults }: { readonly vaults: Scope }): string[] =>
  Object.keys(vaults).filter((vault) => covers(permissionIn(vaults[vault]), needed));

/** Delegation: a token issues tokens with at most its own permissions (contract 8.16). */

/** The permissions of a token that it can pass on. */
interface Grant {
  readonly vaults: Scope;
  /** Seconds; absent: its reads are never old. */
  readonly stale?: number | undefined;
}

/**
 * Refuses a child token with more permissions than its parent. The lifetime is compared elsewhere, where a repeated request is
 * answered. `depth` is the number of tokens above the child. Returns undefined if the child is allowed. Fails with
 * `out_of_scope`, which names the first vault with more permissions, or with `invalid`.
 */
export function refuseMore(
  parent: Grant,
  child: Grant & { readonly delegate?: true | undefined },
  depth: number,
): Refusal | undefined {
  const vault = Object.keys(child.vaults).find((id) => !contains(parent.vaults[id], child.vaults[id]!));
  if (vault !== undefined) return fail("out_of_scope", `pass on this permission in vault ${vault}, which it does not have`);
  if ((child.stale ?? 0) > (parent.stale ?? 0)) return invalid("the token: stale is more than that of the token of the request");
  if (child.delegate && depth >= LIMITS.tokenDepth)
    return invalid(`the token: delegate is not possible with ${LIMITS.tokenDepth} tokens above`);
  return undefined;
}
