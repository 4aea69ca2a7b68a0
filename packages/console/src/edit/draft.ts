import { base32 } from "@item-vault/model/ids";
import { generatePassword, type Password, type PasswordRecipe } from "@item-vault/model/password";
import { purposeRules } from "@item-vault/model/purposes";
import type { Draft, DraftField, DraftUrl, Purpose } from "../items/draft.ts";

/** Changes of a draft by the form. A draft is never changed in place. */

/** The id of a new field or section, as the service makes one (contract 2.13). A purpose has its own, unless that is in use. */
export function newId(used: readonly { readonly id: string }[] = [], purpose: Purpose = ""): string {
  const { name } = purposeRules(purpose) as { name?: string };
  if (name !== undefined && !used.some(({ id }) => id === name)) return name;
  return base32(crypto.getRandomValues(new Uint8Array(16)));
}

/** Generates a value in the browser. Returns undefined if the recipe leaves no character to draw from. */
export function generate(recipe: PasswordRecipe): Password | undefined {
  const generated = generatePassword(recipe, (size) => crypto.getRandomValues(new Uint8Array(size)));
  return generated.ok ? generated.value : undefined;
}

/** Returns the fields of a section in display order; with `""` the fields without a section. */
export const fieldsOf = ({ fields, sections }: Draft, section: string): readonly DraftField[] =>
  section === ""
    ? fields.filter((field) => !sections.some(({ id }) => id === field.section))
    : fields.filter((field) => field.section === section);

/** Returns the list with one element moved. Returns the same list if there is no such place. */
export function move<T>(list: readonly T[], from: number, to: number): readonly T[] {
  if (from < 0 || to < 0 || to >= list.length) return list;
  const moved = list.toSpliced(from, 1);
  return moved.toSpliced(to, 0, list[from]!);
}

export function withField(draft: Draft, field: string, changes: Partial<DraftField>): Draft {
  const index = draft.fields.findIndex(({ id }) => id === field);
  return index < 0 ? draft : { ...draft, fields: draft.fields.with(index, { ...draft.fields[index]!, ...changes }) };
}

/** The draft with a field before or behind the next one of the same section. */
export function moveField(draft: Draft, field: DraftField, step: 1 | -1): Draft {
  const group = fieldsOf(draft, field.section);
  const neighbour = group[group.indexOf(field) + step];
  if (!neighbour) return draft;
  return { ...draft, fields: move(draft.fields, draft.fields.indexOf(field), draft.fields.indexOf(neighbour)) };
}

/** The draft without a section. Its fields stay, and have no section then. */
export function withoutSection(draft: Draft, removed: string): Draft {
  const sections = draft.sections.filter(({ id }) => id !== removed);
  const left = draft.fields.filter(({ section }) => section === removed);
  return left.reduce<Draft>((result, { id }) => withField(result, id, { section: "" }), { ...draft, sections });
}

/**
 * Returns the draft without its empty rows: URLs without address and name, fields without name, value and purpose, and sections without name
 * and fields. Empty rows of `stored`, the Item as it is stored, stay.
 */
export function tidy(draft: Draft, stored?: Draft): Draft {
  let emptyUrls = stored?.urls.filter(isEmptyUrl).length ?? 0;
  const fields = draft.fields.filter(
    (field) => !isEmptyField(field) || stored?.fields.some((each) => each.id === field.id && isEmptyField(each)),
  );
  return {
    ...draft,
    urls: draft.urls.filter((url) => !isEmptyUrl(url) || emptyUrls-- > 0),
    fields,
    sections: draft.sections.filter(
      ({ id, label }) =>
        !isBlank(label) || fields.some(({ section }) => section === id) || stored?.sections.some((each) => each.id === id),
    ),
  };
}

const isBlank = (text: string): boolean => text.trim() === "";
const isEmptyUrl = ({ href, label }: DraftUrl): boolean => isBlank(href) && isBlank(label);
const isEmptyField = ({ label, value, purpose }: DraftField): boolean => isBlank(label) && value === "" && purpose === "";
