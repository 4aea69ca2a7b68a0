import type { Field, Item } from "@item-vault/client";
import { CATEGORIES } from "../items/categories.ts";
import { fieldParts, fileParts, type Part, sectionOf, sectionParts, tagParts, urlParts } from "./compared-parts.ts";
import { displayOf, labelOf } from "../items/field-types.ts";

/** What differs between two states of an Item: two versions, or what is stored and what somebody has typed. */

export interface Difference {
  /** Unique in a list of differences, and the same for the same place in the Item. */
  readonly key: string;
  readonly kind: "added" | "removed" | "changed";
  /** What differs, for people: `Title`, `password`, `Recovery · code`. It is no value of a field. */
  readonly name: string;
  /** The value of each side, for people. Absent where the side has none. */
  readonly before?: string;
  readonly after?: string;
  /** One of the two is a value that is hidden until it is revealed. */
  readonly concealed: boolean;
}

/**
 * What differs from `before` to `after`, in the order in which an Item is shown. An empty list: what people can write is equal.
 * Ids, times, the version and the state are not compared, and neither are the contents of Files.
 */
export function difference(before: Item, after: Item): Difference[] {
  return [
    ...compare("title", "Title", before.title, after.title),
    ...compare("category", "Category", labelOfCategory(before), labelOfCategory(after)),
    ...compare("favorite", "Favourite", before.favorite ? "yes" : "no", after.favorite ? "yes" : "no"),
    ...compareFields(before, after),
    ...compareParts("sections", "Section", sectionParts(before), sectionParts(after)),
    ...joinReplaced(compareParts("urls", "URL", urlParts(before), urlParts(after))),
    ...compareParts("tags", "Tag", tagParts(before), tagParts(after)),
    ...compareParts("files", "File", fileParts(before), fileParts(after)),
  ];
}

const labelOfCategory = ({ category }: Item): string => CATEGORIES[category]?.label ?? category;

function compare(
  key: string,
  name: string,
  before: string | undefined,
  after: string | undefined,
  concealed = false,
): Difference[] {
  if (before === after) return [];
  const kind = before === undefined ? "added" : after === undefined ? "removed" : "changed";
  return [{ key, kind, name, concealed, ...(before !== undefined && { before }), ...(after !== undefined && { after }) }];
}

/** Parts are matched by their keys; a last row tells that those of both sides are in another order. */
function compareParts(place: string, name: string, before: readonly Part[], after: readonly Part[]): Difference[] {
  const [old, now] = [before, after].map((parts) => new Map(parts.map(({ key, text }) => [key, text])));
  const keys = new Set([...now!.keys(), ...old!.keys()]);
  return [
    ...[...keys].flatMap((key) => compare(`${place}/${key}`, name, old!.get(key), now!.get(key))),
    ...compareOrder(place, name, before, after),
  ];
}

function compareOrder(place: string, name: string, before: readonly Part[], after: readonly Part[]): Difference[] {
  const [old, now] = [common(before, after), common(after, before)];
  if (old.every(({ key }, index) => now[index]!.key === key)) return [];
  return compare(`${place} order`, `${name}: order`, listOf(old), listOf(now));
}

function common(parts: readonly Part[], others: readonly Part[]): Part[] {
  const known = new Set(others.map(({ key }) => key));
  return parts.filter(({ key }) => known.has(key));
}

const listOf = (parts: readonly Part[]): string => parts.map(({ text }) => text).join(", ");

function compareFields(before: Item, after: Item): Difference[] {
  const [old, now] = [before, after].map(({ fields }) => new Map(fields.map((field) => [field.id, field])));
  const ids = new Set([...now!.keys(), ...old!.keys()]);
  return [
    ...[...ids].flatMap((id) => compareField(id, [before, old!.get(id)], [after, now!.get(id)])),
    ...compareOrder("fields", "Fields", fieldParts(before), fieldParts(after)),
  ];
}

type Side = readonly [Item, Field | undefined];

function compareField(id: string, before: Side, after: Side): Difference[] {
  const [old, now] = [before[1], after[1]];
  const name = fieldNameOf(...(now ? after : before));
  const key = `fields/${id}`;
  const concealed = [old, now].some((field) => field !== undefined && displayOf(field).concealed === true);
  const value = compare(key, name, old?.value, now?.value, concealed);
  if (!old || !now) return value;
  return [
    ...value,
    ...compare(`${key} label`, `${name}: label`, old.label, now.label),
    ...compare(`${key} type`, `${name}: type`, typeOf(old), typeOf(now)),
    ...compareSections(`${key} section`, `${name}: section`, before, after),
  ];
}

const fieldNameOf = (item: Item, field: Field | undefined): string => {
  const section = item.sections.find(({ id }) => id === field!.section?.id)?.label ?? "";
  return section === "" ? labelOf(field!) : `${section} · ${labelOf(field!)}`;
};

const typeOf = ({ type, purpose }: Field): string => [type, purpose].filter((text) => text !== "").join(", ");

/** The section of a field on each side, for people: by its label, with its id where that tells the two apart. */
function compareSections(key: string, name: string, [oldItem, old]: Side, [nowItem, now]: Side): Difference[] {
  const [oldId, nowId] = [old?.section?.id, now?.section?.id];
  if (oldId === nowId) return [];
  const [before, after] = [sectionOf(oldItem, oldId), sectionOf(nowItem, nowId)];
  const alike = before === after;
  return compare(key, name, alike ? `${before} (${oldId})` : before, alike ? `${after} (${nowId})` : after);
}

/** One that was added in place of one that was removed is a change. */
function joinReplaced(rows: readonly Difference[]): Difference[] {
  const removed = rows.filter(({ kind }) => kind === "removed");
  const added = rows.filter(({ kind }) => kind === "added");
  const pairs = Math.min(removed.length, added.length);
  const joined = added
    .slice(0, pairs)
    .flatMap(({ key, name, after }, index) => compare(key, name, removed[index]!.before, after));
  return [...joined, ...added.slice(pairs), ...removed.slice(pairs), ...rows.filter(({ kind }) => kind === "changed")];
}
