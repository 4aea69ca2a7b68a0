import type { Item } from "@item-vault/client";
import { damagedFiles } from "../api/broken.ts";
import { textOfUrl } from "../items/attribute-texts.ts";
import type { Draft } from "../items/draft.ts";
import { labelOf } from "../items/field-types.ts";
import { plural } from "../ui/plural.ts";
import { isolate } from "../ui/texts.ts";

/** What an Item has several of, as it is compared (difference.ts). */

/** Something that an Item has several of, as it is compared: by its key. */
export interface Part {
  readonly key: string;
  readonly text: string;
}

/** A section for people. In: its id; `""` without one. */
export const sectionOf = ({ sections }: Pick<Draft, "sections">, id: string): string =>
  id === "" ? "none" : sections.find((section) => section.id === id)?.label || id;

export const fieldParts = ({ fields }: Draft): Part[] => fields.map((field) => ({ key: field.id, text: labelOf(field) }));

export const sectionParts = ({ sections }: Draft): Part[] => sections.map(({ id, label }) => ({ key: id, text: label }));

export const urlParts = ({ urls }: Draft): Part[] =>
  numbered(urls.map((url) => ({ key: JSON.stringify(url), text: textOfUrl(url) })));

export const tagParts = ({ tags }: Draft): Part[] => numbered(tags.map((tag) => ({ key: tag, text: tag })));

export const fileParts = (item: Item): Part[] => [
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
