import type { VaultKeys } from "../../crypto/vault-keys.ts";
import { type Dialect, DIALECTS } from "../../model/dialect.ts";
import type { KeyedFile } from "../../model/file.ts";
import { fold } from "../../model/fold.ts";
import { parseId, isId } from "../../model/ids.ts";
import type { Field, Item, Summary } from "../../model/item.ts";
import { fieldFinder, type FoundField } from "../../model/named.ts";
import { itemsIn, type Scope } from "../../model/permission.ts";
import {
  namesNone,
  namesSeveral,
  READABLE_VAULT,
  type Attribute,
  type Reference,
  SAME_TITLE_ITEMS_MAX,
} from "../../model/reference.ts";
import { fail, map, ok, type Refusal, type Result, invalid } from "../../model/result.ts";
import { codeOfField } from "../../model/totp.ts";
import type { Store } from "../d1/database.ts";
import { type Details, openDetails, openSummary } from "../items/items.ts";
import { openKeys, openName } from "../vaults/rows.ts";
import type { ListedRow, FoundRow, Wanted } from "./rows.ts";

/** Finds the vault that a reference names (contract 16.4). No name is cached: the rows are loaded with each request. */

export interface ReferencedVault {
  readonly id: string;
  /** Its name, folded; `undefined` if it cannot be decrypted. */
  readonly name: string | undefined;
  readonly keys: VaultKeys;
}

/** The vaults that references may name, by their ids. */
export type ReferencedVaults = ReadonlyMap<string, Result<ReferencedVault>>;

/** Decrypts vaults. A damaged vault refuses only the references that may name it. */
export async function openVaults(store: Store, rows: readonly ListedRow[]): Promise<ReferencedVaults> {
  return new Map(
    await Promise.all(
      rows.map(async (row): Promise<[string, Result<ReferencedVault>]> => {
        const { id } = row;
        const keys = await openKeys(store, row);
        if (!keys.ok) return [id, keys];
        const name = await openName(keys.value, row);
        return [id, ok({ id, name: name.ok ? fold(name.value) : undefined, keys: keys.value })];
      }),
    ),
  );
}

/**
 * Returns the vault with this id or name. `vaults` has only the token's readable vaults, so any other vault is refused like a
 * missing one. Fails with `reference_not_found` or `ambiguous`, and as decrypting a vault does.
 */
export function findVault(vaults: ReferencedVaults, part: string): Result<ReferencedVault> {
  const byId = vaults.get(parseId(part) ?? "");
  if (byId) return byId;
  const folded = fold(part);
  const named = [...vaults.values()].filter((vault) => vault.ok && vault.value.name === folded);
  if (named.length > 1) return namesSeveral("vaults");
  if (named[0]) return named[0];
  // It may be a vault whose name is unknown.
  const broken = [...vaults.values()].find((vault): vault is Refusal => !vault.ok);
  const hasUnknown = [...vaults.values()].some((vault) => vault.ok && vault.value.name === undefined);
  return broken ?? (hasUnknown ? fail("integrity") : namesNone(READABLE_VAULT));
}

/** The Item that a reference names (contract 16.5), and its field. */

/** The Item of a reference, at the version that was read. */
export type ItemState = Pick<Item, "id" | "vault" | "version" | "nonce">;

/** An Item without its Files. */
export type WholeItem = Summary & Details;

/** The target of a reference. */
export interface Resolved extends ItemState {
  /** A text, or the File that has the content. */
  readonly value: string | KeyedFile;
  /** Only for a reader of whole Items, whose references name no field: the value is then empty. */
  readonly whole?: WholeItem;
}

/** An Item that a reference may name: its answer, or the sections in which to search its Files. */
export type Hit = Result<Resolved> | { readonly ok: "file"; readonly item: ItemState; readonly within: FoundField["within"] };

/** A reference during its search. */
export interface Search {
  readonly reference: Reference;
  readonly vault: ReferencedVault;
  /** The id that the reference names, if it has the form of one. */
  readonly item: string | undefined;
  /** The name, folded, and its blind index in the vault. */
  readonly title: string;
  readonly folded: string;
  byId: Hit | undefined;
  readonly byTitle: Hit[];
}

/** Returns the id in a part of a reference, in either form. Returns undefined if it does not have the form, or names nothing. */
export function idIn(part: string): string | undefined {
  const id = parseId(part);
  return id !== undefined && isId(id) ? id : undefined;
}

export const startSearch = (reference: Reference, vault: ReferencedVault, folded: string): Search => ({
  reference,
  vault,
  item: idIn(reference.item),
  title: fold(reference.item),
  folded,
  byId: undefined,
  byTitle: [],
});

export const wantedBy = ({ vault, item, folded }: Search, scope: Scope): Wanted[] => wantedIn(vault.id, item, folded, scope);

/**
 * Returns the rows to load. `item` is the named id, if any; `folded` is the blind index of the name. In a vault with only
 * some Items in scope, exactly these Items are loaded: other Items may have the same name, which must not make it ambiguous.
 */
export function wantedIn(vault: string, item: string | undefined, folded: string, scope: Scope): Wanted[] {
  const items = itemsIn(scope[vault]);
  if (items) return [...items].map((id) => ({ vault, item: id, folded: null }));
  return [{ vault, item: item ?? null, folded }];
}

type LoadedRow = FoundRow & { readonly details: string };

/** Returns a function that gives the searches that a row may answer. */
export function indexSearches(searches: readonly Search[]): (row: FoundRow) => readonly Search[] {
  const byKey = new Map<string, Set<Search>>();
  for (const search of searches) {
    const { vault, item, folded } = search;
    for (const key of item === undefined ? [folded] : [item, folded])
      byKey.getOrInsertComputed(`${vault.id}/${key}`, () => new Set()).add(search);
  }
  const at = (vault: string, key: string) => byKey.get(`${vault}/${key}`) ?? [];
  return ({ vault_id, id, folded }) => [...new Set([...at(vault_id, id), ...at(vault_id, folded)])];
}

/** Decrypts the details of an Item once, and passes them to each of the searches. */
export async function readItem(row: LoadedRow, searches: readonly Search[], context: ReferenceContext): Promise<void> {
  const { vault } = searches[0]!;
  const { id, version, overview } = row;
  const [opened, summary] = await Promise.all([
    openDetails(vault.keys, vault.id, row),
    typeof overview === "string" ? openSummary(vault.keys, vault.id, { ...row, overview }) : undefined,
  ]);
  const item = { id, vault: vault.id, version };
  const lookUp = !opened.ok
    ? () => opened
    : summary
      ? () =>
          map(summary, (one): Resolved => ({ ...item, nonce: opened.value.nonce, value: "", whole: { ...one, ...opened.value } }))
      : createLookUp(item, opened.value, context);
  for (const search of searches) {
    // The index is never trusted alone.
    const named = opened.ok
      ? opened.value.state !== "ARCHIVED" && fold(opened.value.title) === search.title
      : search.folded === row.folded;
    if (search.item === row.id) search.byId = lookUp(search.reference);
    else if (named) search.byTitle.push(lookUp(search.reference));
  }
}

function createLookUp(
  item: Omit<ItemState, "nonce">,
  { sections, fields, nonce }: Details,
  context: ReferenceContext,
): (reference: Reference) => Hit {
  const state = { ...item, nonce };
  const find = fieldFinder(sections, fields);
  return (reference) => {
    const found = find(reference);
    if (!found.ok) return found;
    const { field, within } = found.value;
    if (!field) return { ok: "file", item: state, within };
    const value = attributeOf(field, reference, context);
    return value.ok ? ok({ ...state, value: value.value }) : value;
  };
}

/** Concludes a search. `titled` is the number of Items with the indexed title. */
export function concludeSearch({ byId, byTitle }: Search, titled: number): Hit {
  if (byId) return byId;
  if (titled >= SAME_TITLE_ITEMS_MAX || byTitle.length > 1) return namesSeveral("Items of the vault");
  return byTitle[0] ?? namesNone("Item of the vault");
}

/** The attributes of fields in references (contract 16.7). */

/** The context of an answer to a reference, besides the field. */
interface ReferenceContext {
  readonly dialect: Dialect;
  /** Unix milliseconds. */
  readonly now: number;
}

/** By attribute, a function that returns undefined if the field has no such attribute. */
const ATTRIBUTES: Readonly<Record<Attribute, (field: Field, context: ReferenceContext) => string | undefined>> = {
  value: ({ type, value }, { dialect }) => DIALECTS[dialect].fieldValue(type, value),
  type: ({ type }) => type,
  label: ({ label }) => label,
  otp: (field, { now }) => codeOfField(field, now),
};

/** Returns the attribute of a field that a reference names. Fails with 400 for the one-time password of a field without one. */
export function attributeOf(field: Field, { attribute }: Reference, context: ReferenceContext): Result<string> {
  const value = ATTRIBUTES[attribute](field, context);
  return value === undefined ? invalid("the field has no one-time password") : ok(value);
}
