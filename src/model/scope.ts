import * as z from "zod/mini";
import { parseId } from "./ids.ts";
import { LIMITS } from "./limits.ts";
import { itemsIn, type VaultScope, isPermission, type Permission, PERMISSIONS } from "./permission.ts";
import { fault } from "./text.ts";

/** The permissions of a request for a token or a person (contract 8.4, 8.15). */

export const oneOf = (words: readonly string[]) => new Intl.ListFormat("en-GB", { type: "disjunction" }).format(words);

const NO_PERMISSION = `has a permission that is not ${oneOf(Object.keys(PERMISSIONS))}`;

/**
 * Returns a schema for an object by vault ids. `parse` parses the value of a vault or returns its fault. `z.record` would
 * silently drop a key `__proto__`.
 */
const byVault = <Value>(parse: (value: unknown) => Value | { readonly wrong: string }) =>
  z.pipe(
    z.custom<object>((value) => typeof value === "object" && value !== null && !Array.isArray(value), fault("is not an object")),
    z.transform((object, { issues }): Record<string, Value> => {
      const entries = Object.entries(object).map(([id, value]) => [parseId(id), parse(value)] as const);
      const ids = new Set(entries.map(([id]) => id));
      const refuse = (message: string) => issues.push({ code: "custom", message, input: object });
      const wrong = entries.flatMap(([, value]) => (isWrong(value) ? [value.wrong] : []));
      const items = entries.flatMap(([, value]) => [...(itemsIn(value) ?? [])]);
      if (entries.length > LIMITS.tokenVaults) refuse(`names more than ${LIMITS.tokenVaults} vaults`);
      else if (ids.has(undefined)) refuse("has a key that is no vault id");
      else if (ids.size < entries.length) refuse("names a vault twice");
      else if (wrong[0] !== undefined) refuse(wrong[0]);
      else if (items.length > LIMITS.tokenItems) refuse(`names more than ${LIMITS.tokenItems} Items`);
      return Object.fromEntries(entries) as Record<string, Value>;
    }),
  );

const isWrong = (value: unknown): value is { readonly wrong: string } =>
  typeof value === "object" && value !== null && Object.hasOwn(value, "wrong");

const parsePermission = (value: unknown): Permission | { readonly wrong: string } =>
  isPermission(value) ? value : { wrong: NO_PERMISSION };

/** `"rw"`, or `{"permissions": "rw", "items": ["<id>"]}`. */
function parseVaultScope(value: unknown): VaultScope | { readonly wrong: string } {
  if (typeof value !== "object" || value === null) return parsePermission(value);
  const { permissions, items, ...others } = value as Readonly<Record<string, unknown>>;
  if (Object.keys(others).length > 0) return { wrong: "has a scope with other attributes than permissions and items" };
  if (!isPermission(permissions)) return { wrong: NO_PERMISSION };
  if (!Array.isArray(items) || items.length === 0) return { wrong: "has a scope whose items are no list of ids" };
  const ids = items.map((id: unknown) => (typeof id === "string" ? parseId(id) : undefined));
  if (!ids.every((id): id is string => id !== undefined)) return { wrong: "has a scope whose items are no list of ids" };
  return { permissions, items: [...new Set(ids)].toSorted() };
}

/** The scope of a person: `{"<vault id>": "<permission>"}`. */
export const scope = byVault(parsePermission);

/** The scope of a token: as of a person, or with some Items only. */
export const tokenScope = byVault(parseVaultScope);
