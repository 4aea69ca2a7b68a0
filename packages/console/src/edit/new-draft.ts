import type { Category } from "@item-vault/client";
import type { Draft, DraftField, FieldType, Purpose } from "../items/draft.ts";
import { newId } from "./draft.ts";
import { TEMPLATES } from "./templates.ts";

/** The drafts of new Items. */

/** What makes a field of the first fields one with a purpose, by its label. */
const PURPOSES: Readonly<Record<string, readonly [Purpose, FieldType]>> = {
  username: ["USERNAME", "STRING"],
  password: ["PASSWORD", "CONCEALED"],
  notes: ["NOTES", "STRING"],
};

/** In: the fields as the table of templates writes them, and the id of their section. */
const fieldsFrom = (text: string, section: string): DraftField[] =>
  text.split(", ").map((row) => {
    const [label, type = "STRING"] = row.split(":") as [string, FieldType?];
    const [purpose, implied] = (section === "" ? PURPOSES[label] : undefined) ?? (["", type] as const);
    return { id: newId([], purpose), section, type: implied, purpose, label, value: "" };
  });

/** The draft that a new Item of a category begins with. */
export function templateOf(category: Category): Draft {
  const { fields, sections = {}, url } = TEMPLATES[category];
  const labels = Object.entries(sections).map(([label, rows]) => ({ id: newId(), label, rows }));
  return {
    title: "",
    category,
    favorite: false,
    tags: [],
    urls: url ? [{ href: "", label: "", primary: true }] : [],
    sections: labels.map(({ id, label }) => ({ id, label })),
    fields: [
      ...fieldsFrom([fields, "notes"].filter(Boolean).join(", "), ""),
      ...labels.flatMap(({ id, rows }) => fieldsFrom(rows, id)),
    ],
  };
}

/**
 * A draft of another category: its template with all that was typed. A value goes to the field with the same purpose or label;
 * without one, its field is added.
 */
export function withCategory(draft: Draft, category: Category): Draft {
  const template = templateOf(category);
  const typed = draft.fields.filter(({ value }) => value !== "");
  const taken = new Set<DraftField>();
  const filled = template.fields.map((field) => {
    const found = typed.find((each) => !taken.has(each) && isAlike(field, each));
    if (found) taken.add(found);
    return found ? { ...field, value: found.value } : field;
  });
  const left = typed.filter((field) => !taken.has(field)).map(withoutItsSection);
  const urls = draft.urls.filter(({ href }) => href !== "");
  const { title, favorite, tags } = draft;
  return { ...template, title, favorite, tags, urls: urls.length > 0 ? urls : template.urls, fields: [...filled, ...left] };
}

const withoutItsSection = (field: DraftField): DraftField => ({ ...field, section: "" });

const isAlike = (a: DraftField, b: DraftField): boolean =>
  a.purpose === b.purpose && (a.purpose !== "" || (a.label === b.label && a.type === b.type));
