import type { Permission, Token } from "@item-vault/client";
import { parseId } from "@item-vault/model/ids";
import { type Operation, permissionOf, PERMISSIONS } from "@item-vault/model/permission";
import { plural } from "../ui/plural.ts";

/** The scope of a token, by vault id: with some Items only, or with all (contract 8.15). */
export type TokenScope = Token["vaults"];

/** The scope of a token or a person: the permission in each vault, by canonical vault id. */
export type Scope = Readonly<Record<string, Permission>>;

/** The operations of permissions, in the order of their letters (contract 8.2). */
export const OPERATIONS = PERMISSIONS.rwd;
export type { Operation };

export const OPERATION_LABELS: Record<Operation, string> = { l: "List", r: "Read", w: "Write", d: "Delete permanently" };

/** A permission of a newer release grants nothing that this page knows. */
export const grants = (permission: Permission | undefined, operation: Operation): boolean =>
  permission !== undefined && (PERMISSIONS[permission] as readonly string[] | undefined)?.includes(operation) === true;

/**
 * Returns a permission with or without an operation. Reading implies listing: granting reading grants both, and withdrawing listing withdraws
 * both. Returns undefined if nothing is left.
 */
function withOperation(permission: Permission | undefined, operation: Operation, granted: boolean): Permission | undefined {
  const stays = (one: Operation) => grants(permission, one) && (granted || !grants(one, operation));
  return permissionOf(OPERATIONS.filter((one) => stays(one) || (granted && grants(operation, one))));
}

export function setOperation(scope: Scope, ids: readonly string[], operation: Operation, granted: boolean): Scope {
  const changed = new Map<string, Permission | undefined>(Object.entries(scope));
  for (const id of ids) changed.set(id, withOperation(scope[id], operation, granted));
  return Object.fromEntries([...changed].filter((entry): entry is [string, Permission] => entry[1] !== undefined));
}

export const scopeOf = (ids: readonly string[], permission: Permission): Scope =>
  Object.fromEntries(ids.map((id) => [id, permission]));

/** A scope with canonical ids of vaults. The list of tokens has ids in the form of the token's dialect (contract 13.14). */
export const canonicalScope = <Value>(scope: Readonly<Record<string, Value>>): Record<string, Value> =>
  Object.fromEntries(Object.entries(scope).map(([id, value]) => [parseId(id) ?? id, value]));

/** The part of a scope that is for whole vaults, which is all that a form can change. */
export const wholeVaults = (scope: TokenScope): Scope =>
  Object.fromEntries(Object.entries(scope).filter((entry): entry is [string, Permission] => typeof entry[1] === "string"));

/** Returns "read, write", or with some Items only "read (3 items only)". */
export const describeVaultScope = (scope: TokenScope[string]): string =>
  typeof scope === "string"
    ? describePermission(scope)
    : `${describePermission(scope.permissions)} (${plural(scope.items.length, "item")} only)`;

/** Returns "read, write". */
export const describePermission = (permission: Permission): string =>
  OPERATIONS.filter((operation) => permission.includes(operation))
    .map((operation) => OPERATION_LABELS[operation].toLowerCase())
    .join(", ");

/** Each key of the grid of permissions, with the rows and columns by which it moves. */
const STEPS: Readonly<Record<string, readonly [rows: number, columns: number]>> = {
  ArrowDown: [1, 0],
  ArrowUp: [-1, 0],
  ArrowRight: [0, 1],
  ArrowLeft: [0, -1],
  PageDown: [10, 0],
  PageUp: [-10, 0],
};

const within = (value: number, count: number): number => Math.min(count - 1, Math.max(0, value));

/** Returns the place to which a key moves, as "row/column". Returns undefined for another key. */
export function placeAfter(key: string, place: string, rows: number, columns: number): string | undefined {
  const step = STEPS[key];
  if (!step) return undefined;
  const [row = 0, column = 0] = place.split("/").map(Number);
  return `${within(row + step[0], rows)}/${within(column + step[1], columns)}`;
}
