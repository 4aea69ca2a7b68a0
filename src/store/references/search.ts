import type { KeyedFile } from "../../model/file.ts";
import { fold } from "../../model/fold.ts";
import { isId, parseId } from "../../model/ids.ts";
import type { Field, Item } from "../../model/item.ts";
import { fieldFinder, type FoundField } from "../../model/named.ts";
import { itemsIn, type Scope } from "../../model/vault-scope.ts";
import { type Attribute, namesNone, namesSeveral, type Reference, SAME_TITLE_ITEMS_MAX } from "../../model/reference.ts";
import { invalid, ok, type Result } from "../../model/result.ts";
import { type Details, openDetails } from "../items/items.ts";
import type { FoundRow, Wanted } from "./rows.ts";
import type { ReferencedVault } from "./vaults.ts";
import { type Dialect, DIALECTS } from "../../model/dialect.ts";
import { codeOfField } from "../../model/totp.ts";

/** Which Item a reference names (contract 16.5), and what it says of the field. */

/** The Item of a reference, at the version that was read. */
export type ItemState = Pick<Item, "id" | "vault" | "version" | "nonce">;

/** What a reference stands for. */
export interface Resolved extends ItemState {
  /** A text, or the File whose content it is. */
  readonly value: string | KeyedFile;
}

/** An Item that a reference may name: its answer, or where its Files have to be looked at. */
export type Hit = Result<Resolved> | { readonly ok: "file"; readonly item: ItemState; readonly within: FoundField["within"] };

/** A reference on its way. */
export interface Search {
  readonly reference: Reference;
  readonly vault: ReferencedVault;
  /** The id that the reference names, if it has the form of one. */
  readonly item: string | undefined;
  /** The name, folded, and its blind indexes in the vault: two while the vault gets new keys. */
  readonly title: string;
  readonly folded: readonly string[];
  byId: Hit | undefined;
  readonly byTitle: Hit[];
}

/** The id in a part of a reference, in either form; `undefined` when it has no such form or can name nothing. */
export function idIn(part: string): string | undefined {
  const id = parseId(part);
  return id !== undefined && isId(id) ? id : undefined;
}

export const startSearch = (reference: Reference, vault: ReferencedVault, folded: readonly string[]): Search => ({
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
 * What is looked for. In: the id that is named, if any, and the blind indexes of the name. Of a vault with some Items in the scope these
 * are looked for: the name may be that of others too, which must not make it ambiguous.
 */
export function wantedIn(vault: string, item: string | undefined, indexes: readonly string[], scope: Scope): Wanted[] {
  const items = itemsIn(scope[vault]);
  if (items) return [...items].map((id) => ({ vault, item: id, folded: null }));
  return indexes.map((folded, index) => ({ vault, item: (index === 0 && item) || null, folded }));
}

/** A row with its text. */
type LoadedRow = FoundRow & { readonly details: string };

/** Out: a function that gives the searches which a row may answer. */
export function indexSearches(searches: readonly Search[]): (row: FoundRow) => readonly Search[] {
  const byKey = new Map<string, Set<Search>>();
  for (const search of searches) {
    const { vault, item, folded } = search;
    for (const key of [...(item === undefined ? [] : [item]), ...folded])
      byKey.getOrInsertComputed(`${vault.id}/${key}`, () => new Set()).add(search);
  }
  const at = (vault: string, key: string) => byKey.get(`${vault}/${key}`) ?? [];
  return ({ vault_id, id, folded }) => [...new Set([...at(vault_id, id), ...at(vault_id, folded)])];
}

/** Opens the details of an Item once, and tells each of the searches what they say. */
export async function readItem(row: LoadedRow, searches: readonly Search[], context: ReferenceContext): Promise<void> {
  const { vault } = searches[0]!;
  const opened = await openDetails(vault.keys, vault.id, row);
  const { id, version } = row;
  const lookUp = opened.ok ? createLookUp({ id, vault: vault.id, version }, opened.value, context) : () => opened;
  for (const search of searches) {
    // The index is never trusted alone.
    const named = opened.ok
      ? opened.value.state !== "ARCHIVED" && fold(opened.value.title) === search.title
      : search.folded.includes(row.folded);
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

/** The end of a search. In: how many Items have the indexed title. */
export function concludeSearch({ byId, byTitle }: Search, titled: number): Hit {
  if (byId) return byId;
  if (titled >= SAME_TITLE_ITEMS_MAX || byTitle.length > 1) return namesSeveral("Items of the vault");
  return byTitle[0] ?? namesNone("Item of the vault");
}

/** What a reference says of a field, by its attribute (contract 16.7). */

/** What the answer to a reference depends on besides the field. */
interface ReferenceContext {
  readonly dialect: Dialect;
  /** Unix milliseconds. */
  readonly now: number;
}

/** Out: `undefined` when the field has no such attribute. */
const ATTRIBUTES: Readonly<Record<Attribute, (field: Field, context: ReferenceContext) => string | undefined>> = {
  value: ({ type, value }, { dialect }) => DIALECTS[dialect].fieldValue(type, value),
  type: ({ type }) => type,
  label: ({ label }) => label,
  otp: (field, { now }) => codeOfField(field, now),
};

/** The attribute of a field that a reference asks for. Errors: 400, for the one-time password of a field that has none. */
export function attributeOf(field: Field, { attribute }: Reference, context: ReferenceContext): Result<string> {
  const value = ATTRIBUTES[attribute](field, context);
  return value === undefined ? invalid("the field has no one-time password") : ok(value);
}
