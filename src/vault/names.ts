import type { Purpose, Section } from "../model/item.ts";
import type { ItemInput } from "../model/item-input.ts";

/** What fields say of themselves without saying it: a purpose is a name, and naming a section brings it in. */

/** The id and label that a purpose gives a field without its own. */
export const PURPOSE_NAMES: Record<Purpose, string | undefined> = {
  "": undefined,
  USERNAME: "username",
  PASSWORD: "password",
  NOTES: "notesPlain",
};

/** The same Item, with the ids that purposes give and the sections that are only named by fields. */
export function withNames(input: ItemInput): ItemInput {
  const fields = input.fields.map((field) =>
    // Most have one: a patch of 1,000 operations on 1,000 fields should not copy a million.
    field.id === undefined ? { ...field, id: PURPOSE_NAMES[field.purpose ?? ""] } : field,
  );
  const known = new Set(input.sections.map((section) => section.id));
  const named = fields.flatMap(({ section }) => (section && !known.has(section.id) ? [section] : []));
  const brought = new Map<string, Section>();
  for (const { id, label = "" } of named) if (!brought.has(id)) brought.set(id, { id, label });
  return { ...input, fields, sections: [...input.sections, ...brought.values()] };
}
