import type { Section } from "../model/item.ts";
import type { FieldInput, ItemInput } from "../model/item-input.ts";
import { purposeRules } from "../model/purposes.ts";

/** The names that fields imply: a purpose implies an id, and a reference to a section declares it. */

/**
 * Adds the ids that purposes imply and the sections that only fields name. In: `before`, to which this was applied already and
 * of which `input` is an edit: only the fields that differ are looked at, because a PATCH has up to 1,000 edits of as many fields.
 */
export function withNames(input: ItemInput, before?: ItemInput): ItemInput {
  const changed = input.fields.filter((field, index) => field !== before?.fields[index]);
  const fields = changed.some(({ id }) => id === undefined) ? input.fields.map(withId) : input.fields;
  const added = missingSections(changed, input.sections);
  return { ...input, fields, sections: added.length > 0 ? [...input.sections, ...added] : input.sections };
}

const withId = (field: FieldInput): FieldInput =>
  field.id === undefined ? { ...field, id: purposeRules(field.purpose ?? "").name } : field;

/** The sections that the fields name and the list does not declare, each once. */
function missingSections(fields: readonly FieldInput[], declared: ItemInput["sections"]): Section[] {
  const named = fields.flatMap(({ section }) => section ?? []);
  if (named.length === 0) return [];
  const known = new Set(declared.map(({ id }) => id));
  const added = new Map<string, Section>();
  for (const { id, label = "" } of named) if (!known.has(id) && !added.has(id)) added.set(id, { id, label });
  return [...added.values()];
}
