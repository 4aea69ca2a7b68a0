import type { Item } from "@item-vault/client";
import { labelOf } from "../items/field-types.ts";
import { plural } from "../ui/plural.ts";

/** What an Item has several of, as it is compared (difference.ts). */

/** Something that an Item has several of, as it is compared: by its key. */
export interface Part {
  readonly key: string;
  readonly text: string;
}

/** A section for people. In: its id, if there is one. */
export const sectionOf = ({ sections }: Item, id: string | undefined): string =>
  id === undefined ? "none" : sections.find((section) => section.id === id)?.label || id;

export const fieldParts = ({ fields }: Item): Part[] => fields.map((field) => ({ key: field.id, text: labelOf(field) }));

export const sectionParts = ({ sections }: Item): Part[] => sections.map(({ id, label }) => ({ key: id, text: label }));

export const urlParts = ({ urls }: Item): Part[] =>
  numbered(
    urls.map(({ href, label = "", primary = false }) => ({
      key: JSON.stringify([label, href, primary]),
      text: [label === "" ? "" : `${label}: `, href, primary ? " (primary)" : ""].join(""),
    })),
  );

export const tagParts = ({ tags }: Item): Part[] => numbered(tags.map((tag) => ({ key: tag, text: tag })));

export const fileParts = (item: Item): Part[] =>
  item.files.map(({ id, name, size, section }) => {
    const place = section ? `, in ${sectionOf(item, section.id)}` : "";
    return { key: id, text: `${name} (${plural(size, "byte")}${place})` };
  });

/** Parts without an id: equal ones are told apart by their number. */
function numbered(parts: readonly Part[]): Part[] {
  const counts = new Map<string, number>();
  return parts.map(({ key, text }) => {
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    return { key: `${key} ${count}`, text };
  });
}
