import { fold } from "./fold.ts";
import { shortId } from "./ids.ts";
import type { Field, Section } from "./item.ts";
import { namesNone, namesSeveral, type Reference } from "./reference.ts";
import { map, ok, type Result } from "./result.ts";

/** A reference to a field or File within an Item (contract 16.6). */

/** A field, File or section, prepared for several references, so that its name is folded once. */
interface Named<T> {
  /** The forms of its id. */
  readonly ids: readonly string[];
  readonly section: string | undefined;
  /** Its label or name, folded. */
  readonly name: string;
  readonly value: T;
}

/** The attributes of a field that references use. */
export interface NamedField {
  readonly id: string;
  readonly label: string;
  /** The id of its section. */
  readonly section?: string | undefined;
}

/** The attributes of a File that references use. `id` is a canonical UUID. */
export interface NamedFile {
  readonly id: string;
  readonly name: string;
  readonly section?: string | undefined;
}

/** Prepares an entry with a label or name. A section is in no section. */
const prepare = <T extends { readonly id: string; readonly section?: string | undefined }>(
  value: T,
  name: string,
  ids: readonly string[] = [value.id],
): Named<T> => ({ ids, section: value.section, name: fold(name), value });

const idsOfFile = ({ id }: NamedFile): readonly string[] => [id, shortId(id)];

/** Returns true if a part of a reference is the id of a File. Ids take precedence over names. */
export const isIdOfFile = (file: NamedFile, part: string): boolean => idsOfFile(file).includes(part);

/** The tests in order of precedence; the first test with a match decides. An entry without a section precedes an entry in a section. */
const TESTS: readonly ((entry: Named<unknown>, part: string, folded: string) => boolean)[] = [
  ({ ids }, part) => ids.includes(part),
  ({ name, section }, _, folded) => section === undefined && name === folded,
  ({ name }, _, folded) => name === folded,
  ({ ids }, _, folded) => ids.some((id) => fold(id) === folded),
];

function firstMatches<T>(entries: readonly Named<T>[], part: string): readonly T[] {
  const folded = fold(part);
  for (const test of TESTS) {
    const found = entries.filter((entry) => test(entry, part, folded));
    if (found.length > 0) return found.map(({ value }) => value);
  }
  return [];
}

/** The part of a reference that is looked up within an Item. */
export type ReferenceInItem = Pick<Reference, "section" | "field">;

/** The ids of the sections that a reference allows; absent: it has no section. */
type Within = readonly string[] | undefined;

/** A field, if the Item has it, and otherwise the sections that a File may be in. */
export interface FoundField<F extends NamedField = Field> {
  readonly field: F | undefined;
  readonly within: Within;
}

/** Returns a function that finds fields of an Item. It fails with `reference_not_found` if the section is missing, and with `ambiguous`. */
export function fieldFinder<F extends NamedField>(
  sections: readonly Section[],
  fields: readonly F[],
): (one: ReferenceInItem) => Result<FoundField<F>> {
  const namedSections = sections.map((one) => prepare(one, one.label));
  const namedFields = fields.map((one) => prepare(one, one.label));
  return ({ section, field }) => {
    // Several sections may have one label. The entries of all of them are searched.
    const within = section === undefined ? undefined : firstMatches(namedSections, section).map(({ id }) => id);
    if (within?.length === 0) return namesNone("section of the Item");
    return map(findOne(namedFields, field, within, "fields"), (found) => ({ field: found, within }));
  };
}

/** Finds a File of an Item. Returns undefined if there is none. Fails with `ambiguous`. */
export function findFile<F extends NamedFile>(files: readonly F[], { field }: ReferenceInItem, within: Within) {
  const named = files.map((file) => prepare(file, file.name, idsOfFile(file)));
  return findOne(named, field, within, "Files");
}

function findOne<T>(entries: readonly Named<T>[], part: string, within: Within, what: string): Result<T | undefined> {
  const allowed = within ? entries.filter(({ section }) => section !== undefined && within.includes(section)) : entries;
  const [found, ...others] = firstMatches(allowed, part);
  return others.length > 0 ? namesSeveral(what) : ok(found);
}
