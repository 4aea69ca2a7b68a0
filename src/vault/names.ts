import type { Section } from "../model/item.ts";
import type { ItemInput } from "../model/item-input.ts";
import { purposeRules } from "../model/purposes.ts";

/** The names that fields imply: a purpose implies an id, and a reference to a section declares it. */

/** Adds the ids that purposes imply and the sections that only fields name. */
export function withNames(input: ItemInput): ItemInput {
  const fields = input.fields.map((field) =>
    // A field that has an id is not copied: a PATCH of 1,000 operations on 1,000 fields would copy a million.
    field.id === undefined ? { ...field, id: purposeRules(field.purpose ?? "").name } : field,
  );
  const known = new Set(input.sections.map((section) => section.id));
  const named = fields.flatMap(({ section }) => (section && !known.has(section.id) ? [section] : []));
  const added = new Map<string, Section>();
  for (const { id, label = "" } of named) if (!added.has(id)) added.set(id, { id, label });
  return { ...input, fields, sections: [...input.sections, ...added.values()] };
}
