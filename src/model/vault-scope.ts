import { covers, isPermission, type Permission } from "./permission.ts";

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
