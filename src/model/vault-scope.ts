import { covers, isPermission, type Permission } from "./permission.ts";

/** What a token may do in a vault: a permission, in the whole vault or with some of its Items only (contract 8.15). */
export type VaultScope = Permission | ItemScope;

export interface ItemScope {
  readonly permissions: Permission;
  /** Canonical ids. Outside of them no Item exists for the token. */
  readonly items: readonly string[];
}

/** What a token may do, by the canonical ids of vaults. */
export type Scope = Readonly<Record<string, VaultScope>>;

/** An object with other attributes, which a newer release may have issued, is none. */
const isItemScope = (scope: unknown): scope is ItemScope =>
  typeof scope === "object" &&
  scope !== null &&
  "items" in scope &&
  Array.isArray(scope.items) &&
  Object.keys(scope).toSorted().join() === "items,permissions";

/** The permission of a scope; `undefined` without one, and for one of a newer release. */
export function permissionIn(scope: unknown): Permission | undefined {
  const permission = isItemScope(scope) ? scope.permissions : scope;
  return isPermission(permission) ? permission : undefined;
}

/** The Items to which a scope is restricted; `undefined`: to none, it is for the whole vault. */
export const itemsIn = (scope: unknown): ReadonlySet<string> | undefined =>
  isItemScope(scope) ? new Set(scope.items) : undefined;

/** Whether a scope is for an Item of the vault. */
export const isForItem = (scope: unknown, item: string): boolean => itemsIn(scope)?.has(item) ?? true;

/** Whether a scope allows everything that another one allows. An absent one allows nothing. */
export function contains(scope: unknown, other: VaultScope): boolean {
  const needed = permissionIn(other);
  const [items, others] = [itemsIn(scope), itemsIn(other)];
  const covered = needed !== undefined && covers(permissionIn(scope), needed);
  return covered && (items === undefined || (others !== undefined && [...others].every((item) => items.has(item))));
}

/** The ids of the vaults in which a token has a permission, be it with some Items only. */
export const vaultsWith = (needed: Permission, { vaults }: { readonly vaults: Scope }): string[] =>
  Object.keys(vaults).filter((vault) => covers(permissionIn(vaults[vault]), needed));
