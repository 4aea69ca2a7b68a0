import type { Field, File as StoredFile, Item } from "@item-vault/client";
import { fold } from "@item-vault/model/fold";
import { parseId } from "@item-vault/model/ids";
import { fieldFinder, findFile, type NamedField, type NamedFile, type ReferenceInItem } from "@item-vault/model/named";
import { isReferencePart } from "@item-vault/model/reference";

/**
 * References to parts of an Item, for POST /v1/resolve and the command line (contract 16). They have names if these are unambiguous, and ids
 * otherwise.
 */

export const NO_REFERENCE = "This has no reference: its name and ID contain characters that references don’t allow.";

/** The vaults and Items among which a name must be unique. */
export interface Surroundings {
  readonly vaults: readonly { readonly id: string; readonly name: string }[];
  /** The Items of all vaults, with archived ones. */
  readonly items: readonly { readonly id: string; readonly title: string; readonly vault: { readonly id: string } }[];
}

export type Target = { readonly field: Field } | { readonly file: StoredFile };

/** Returns undefined if neither the name nor the id of the field can be a part of a reference. */
export function referenceTo(target: Target, item: Item, { vaults, items }: Surroundings): string | undefined {
  const neighbours = items.filter(({ vault }) => vault.id === item.vault.id);
  const vault = vaults.find(({ id }) => id === item.vault.id);
  const place = placeIn(item, target);
  if (!place) return undefined;
  const parts = [
    nameOrId(item.vault.id, vault?.name ?? "", (name) => vaults.filter((other) => isNamed(other.name, name)).length === 1),
    // An archived Item is found by its id only (contract 16.5).
    nameOrId(
      item.id,
      item.state === undefined ? item.title : "",
      (title) => neighbours.filter((other) => isNamed(other.title, title)).length === 1,
    ),
    ...(place.section === undefined ? [] : [place.section]),
    place.field,
  ];
  return `op://${parts.join("/")}`;
}

const isNamed = (name: string, wanted: string): boolean => fold(name) === fold(wanted);

/** A name that looks like an id would be looked up as one. */
const nameOrId = (id: string, name: string, isUnique: (name: string) => boolean): string =>
  isPlain(name) && parseId(name) === undefined && isUnique(name) ? name : id;

/** Spaces at the ends are lost when references are written into files. */
const isPlain = (name: string): boolean => isReferencePart(name) && name.trim() === name;

/** The last parts of a reference: the first that the service's own rules resolve to the target (contract 16.6). */
function placeIn(item: Item, target: Target): ReferenceInItem | undefined {
  const resolve = resolverOf(item);
  const one = "field" in target ? target.field : target.file;
  const section = item.sections.find(({ id }) => id === one.section?.id);
  const name = "label" in one ? one.label : one.name;
  const wholes = section === undefined ? [undefined] : [section.label, section.id, undefined];
  const places = [name, one.id].flatMap((field) => wholes.map((within) => ({ section: within, field })));
  return places.find((place) => isWritable(place) && resolve(place) === one.id);
}

const isWritable = ({ section, field }: ReferenceInItem): boolean =>
  (section === undefined || isPlain(section)) && isPlain(field);

/** Returns a function that resolves a reference within an Item: to the id of a field or File. */
function resolverOf({ sections, fields, files }: Item): (place: ReferenceInItem) => string | undefined {
  const named: NamedField[] = fields.map(({ id, label, section }) => ({ id, label, section: section?.id }));
  // The service compares ids of Files in both of their forms, beginning with the canonical one.
  const stored: (NamedFile & { readonly written: string })[] = files.map(({ id, name, section }) => ({
    id: parseId(id)!,
    written: id,
    name,
    section: section?.id,
  }));
  const find = fieldFinder(sections, named);
  return (place) => {
    const found = find(place);
    if (!found.ok) return undefined;
    if (found.value.field) return found.value.field.id;
    const file = findFile(stored, place, found.value.within);
    return file.ok ? file.value?.written : undefined;
  };
}
