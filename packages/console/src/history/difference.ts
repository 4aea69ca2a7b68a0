import type { Item } from "@item-vault/client";
import { damagedFiles } from "../failures/broken.ts";
import { ATTRIBUTE_TEXTS, textOfUrl, type Attribute, differingParts, type RestorablePart } from "../items/comparison.ts";
import { type Draft, type DraftField, draftOf } from "../items/draft.ts";
import { isConcealed, labelOf } from "../items/field-types.ts";
import { plural } from "../ui/plural.ts";
import { isolate } from "../ui/texts.ts";

/** The differences between two states of an Item: two versions, or the stored state and the input. */

export interface Difference {
  /** Unique in a list of differences, and the same for the same place in the Item. */
  readonly key: string;
  readonly kind: "added" | "removed" | "changed";
  /** The name for people: `Title`, `password`, `Recovery · code`. It is never a field's value. */
  readonly name: string;
  /** The value of each side, for people. Absent where the side has none. */
  readonly before?: string;
  readonly after?: string;
  /** One of the two is a value that is hidden until it is revealed. */
  readonly concealed: boolean;
  /** The attribute or field that differs; absent if it cannot be restored alone. */
  readonly part?: RestorablePart;
}

/**
 * Returns the differences from `before` to `after`, in display order. It is empty if everything that people can write is equal. Ids, times,
 * the version, the state, and the contents of Files are not compared.
 */
export function difference(before: Item, after: Item): Difference[] {
  const [old, now] = [draftOf(before), draftOf(after)];
  return [
    ...differingParts(now, old).flatMap((part) =>
      part.kind === "section"
        ? compareSection(part.id, old, now)
        : (part.kind === "field" ? compareField(part.id, old, now) : compareAttribute(part.kind, old, now)).map((row) =>
            Object.assign(row, { part }),
          ),
    ),
    ...compareOrder("fields", "Fields", fieldParts(old), fieldParts(now)),
    ...compareOrder("sections", "Section", sectionParts(old), sectionParts(now)),
    ...compareParts("files", "File", fileParts(before), fileParts(after)),
  ];
}

function compareAttribute(kind: Attribute, before: Draft, after: Draft): Difference[] {
  if (kind === "urls") return joinReplaced(compareParts("urls", "URL", urlParts(before), urlParts(after)));
  if (kind === "tags") return compareParts("tags", "Tag", tagParts(before), tagParts(after));
  const { name, textOf } = ATTRIBUTE_TEXTS[kind];
  return compare(kind, name, textOf(before), textOf(after));
}

const compareSection = (id: string, before: Draft, after: Draft): Difference[] =>
  compare(`sections/${id}`, "Section", labelOfSection(before, id), labelOfSection(after, id));

const labelOfSection = ({ sections }: Draft, id: string): string | undefined => sections.find((one) => one.id === id)?.label;

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

/** Compares parts by their keys. A last row shows that the common parts are in another order. */
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
  return compare(`${place} order`, `${isolate(name)}: order`, listOf(old), listOf(now));
}

function common(parts: readonly Part[], others: readonly Part[]): Part[] {
  const known = new Set(others.map(({ key }) => key));
  return parts.filter(({ key }) => known.has(key));
}

const listOf = (parts: readonly Part[]): string => parts.map(({ text }) => text).join(", ");

function compareField(id: string, before: Draft, after: Draft): Difference[] {
  const [old, now] = [before, after].map(({ fields }) => fields.find((field) => field.id === id));
  const name = now ? fieldNameOf(after, now) : fieldNameOf(before, old!);
  const key = `fields/${id}`;
  const concealed = [old, now].some((field) => field !== undefined && isConcealed(field));
  const value = compare(key, name, old?.value, now?.value, concealed);
  if (!old || !now) return value;
  return [
    ...value,
    ...compare(`${key} label`, `${isolate(name)}: label`, old.label, now.label),
    ...compare(`${key} type`, `${isolate(name)}: type`, typeOf(old), typeOf(now)),
    ...compareSections(`${key} section`, `${isolate(name)}: section`, [before, old.section], [after, now.section]),
  ];
}

const fieldNameOf = ({ sections }: Draft, field: DraftField): string => {
  const section = sections.find(({ id }) => id === field.section)?.label ?? "";
  return section === "" ? labelOf(field) : `${isolate(section)} · ${isolate(labelOf(field))}`;
};

const typeOf = ({ type, purpose }: DraftField): string => [type, purpose].filter((text) => text !== "").join(", ");

type Place = readonly [draft: Draft, section: string];

/** The section of a field on each side, for people: its label, and also its id if both labels are equal. */
function compareSections(key: string, name: string, [before, oldId]: Place, [after, nowId]: Place): Difference[] {
  if (oldId === nowId) return [];
  const [old, now] = [sectionOf(before, oldId), sectionOf(after, nowId)];
  const alike = old === now;
  return compare(key, name, alike ? `${old} (${oldId})` : old, alike ? `${now} (${nowId})` : now);
}

/** A section that was added in place of a removed one is a change. */
function joinReplaced(rows: readonly Difference[]): Difference[] {
  const removed = rows.filter(({ kind }) => kind === "removed");
  const added = rows.filter(({ kind }) => kind === "added");
  const pairs = Math.min(removed.length, added.length);
  const joined = added
    .slice(0, pairs)
    .flatMap(({ key, name, after }, index) => compare(key, name, removed[index]!.before, after));
  return [...joined, ...added.slice(pairs), ...removed.slice(pairs), ...rows.filter(({ kind }) => kind === "changed")];
}

/** An entry of a list in an Item, for a comparison by its key. */
type Part = Readonly<{ key: string; text: string }>;

/** Returns a section for people, by its id; `""` without one. */
const sectionOf = ({ sections }: Pick<Draft, "sections">, id: string): string =>
  id === "" ? "none" : sections.find((section) => section.id === id)?.label || id;

const fieldParts = ({ fields }: Draft): Part[] => fields.map((field) => ({ key: field.id, text: labelOf(field) }));

const sectionParts = ({ sections }: Draft): Part[] => sections.map(({ id, label }) => ({ key: id, text: label }));

const urlParts = ({ urls }: Draft): Part[] => numbered(urls.map((url) => ({ key: JSON.stringify(url), text: textOfUrl(url) })));

const tagParts = ({ tags }: Draft): Part[] => numbered(tags.map((tag) => ({ key: tag, text: tag })));

const fileParts = (item: Item): Part[] => [
  ...item.files.map(({ id, name, size, section }) => {
    const place = section ? `, in ${sectionOf(item, section.id)}` : "";
    return { key: id, text: `${isolate(name)} (${plural(size, "byte")}${place})` };
  }),
  ...damagedFiles(item).map(({ id, name }) => ({ key: id, text: name })),
];

/** Parts without an id: equal ones are told apart by their number. */
function numbered(parts: readonly Part[]): Part[] {
  const counts = new Map<string, number>();
  return parts.map(({ key, text }) => {
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    return { key: `${key} ${count}`, text };
  });
}
