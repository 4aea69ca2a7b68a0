import type {
  AdminVault,
  BrokenDeletedItem,
  BrokenItem,
  BrokenPerson,
  BrokenToken,
  BrokenVault,
  DeletedItemSummary,
  Issuer,
  ItemSummary,
  ListedToken,
  Person,
  Rule,
  Token,
} from "@item-vault/client";
import { plural } from "../frame/printable.ts";

/** The shapes of the API that commands read (contract 2, 9.1, 13.14), where they differ from the generated types of the client. */

export type { Field, File as FileInfo, Item } from "@item-vault/client";

/** An Item in a list. A broken Item has no title (contract 11.10, 14.9). */
export type Summary = ItemSummary | BrokenItem | DeletedItemSummary | BrokenDeletedItem;

/** The entries in the admin's lists. A broken entry lacks its sealed attributes (contract 13.18, 25.1). */
export type AnyVault = AdminVault | BrokenVault;
export type AnyToken = ListedToken | BrokenToken;
export type AnyPerson = Person | BrokenPerson;
export type AnyIssuer = Issuer | BrokenPerson;
export type AnyRule = Rule | BrokenPerson;

/** Returns the attributes of an entry besides its id and its times; a broken entry has none. */
export const opened = <T extends object>(entry: T): Partial<Exclude<T, { readonly broken: string }>> =>
  "broken" in entry ? {} : entry;

/** Replaces a sealed name or email that cannot be decrypted. */
export const DOES_NOT_OPEN = "(cannot be decrypted)";

/** Returns the name of an id, or the id. */
export type NameOf = (id: string) => string;

/** The vaults of a token or a person with their permissions. */
export const scopesOf = (entry: AnyToken | AnyPerson | AnyRule, nameOf: NameOf): string[] =>
  Object.entries(opened(entry).vaults ?? {}).map(([id, scope]) => `${nameOf(id)} ${textOf(scope)}`);

const SCOPES_SHOWN_MAX = 3;

/** The same in one cell; of many vaults the number. */
export function scopeOf(entry: AnyToken | AnyPerson | AnyRule, nameOf: NameOf): string {
  const scopes = scopesOf(entry, nameOf);
  return scopes.length <= SCOPES_SHOWN_MAX ? scopes.join(", ") : plural(scopes.length, "vault");
}

/** Formats the permissions of a token in a vault: "rw", or with some Items only "rw of 3 Items". */
export const textOf = (scope: Token["vaults"][string]): string =>
  typeof scope === "string" ? scope : `${scope.permissions} of ${scope.items.length} item${scope.items.length === 1 ? "" : "s"}`;
