import { isolate } from "../ui/texts.ts";
import { CATEGORIES } from "./categories.ts";
import { type Draft, type DraftField, type DraftUrl, isSame } from "./draft.ts";

/** The comparison of two states of an Item: of two versions (history), or of two people's input (conflicts). */

/** The attributes of an Item besides its sections and fields, in the order in which an Item is shown. */
export const ATTRIBUTES = ["title", "category", "favorite", "urls", "tags"] as const;
export type Attribute = (typeof ATTRIBUTES)[number];

export const textOfUrl = ({ href, label, primary }: DraftUrl): string =>
  [label === "" ? "" : `${isolate(label)}: `, isolate(href), primary ? " (primary)" : ""].join("");

/** The names and values of the attributes, for people. */
export const ATTRIBUTE_TEXTS: Readonly<Record<Attribute, { readonly name: string; readonly textOf: (draft: Draft) => string }>> =
  {
    title: { name: "Title", textOf: ({ title }) => title },
    // A category of a newer release has no label here.
    category: { name: "Category", textOf: ({ category }) => CATEGORIES[category]?.[0] ?? category },
    favorite: { name: "Favorite", textOf: ({ favorite }) => (favorite ? "yes" : "no") },
    urls: { name: "URLs", textOf: ({ urls }) => urls.map(textOfUrl).join("\n") },
    tags: { name: "Tags", textOf: ({ tags }) => tags.map(isolate).join(", ") },
  };

/** A unit of comparison: an attribute of the Item, a section, or a field with its label, type, section and value. */
export type Part = { readonly kind: Attribute } | { readonly kind: "section" | "field"; readonly id: string };

/** A part of a draft; `undefined` when it has no such section or field. */
export const partOf = (draft: Draft, part: Part): unknown =>
  part.kind === "field"
    ? draft.fields.find(({ id }) => id === part.id)
    : part.kind === "section"
      ? draft.sections.find(({ id }) => id === part.id)
      : draft[part.kind];

/**
 * Returns the parts in which two drafts differ, in display order. Fields and sections are in the order of the first draft; those only in the
 * second follow. Another order of fields or sections alone is not a difference.
 */
export function differingParts(first: Draft, second: Draft): Part[] {
  const idsOf = (list: "sections" | "fields") => new Set([first, second].flatMap((draft) => draft[list].map(({ id }) => id)));
  const parts: Part[] = [
    { kind: "title" },
    { kind: "category" },
    { kind: "favorite" },
    ...[...idsOf("fields")].map((id) => ({ kind: "field" as const, id })),
    ...[...idsOf("sections")].map((id) => ({ kind: "section" as const, id })),
    { kind: "urls" },
    { kind: "tags" },
  ];
  return parts.filter((part) => !isSame(partOf(first, part), partOf(second, part)));
}

/** A part that can be made as another state has it, without the rest. */
export type RestorablePart = Exclude<Part, { readonly kind: "section" }>;

/** Returns a draft with a part from another draft. A field whose section no longer exists is put before the sections. */
export function withPart(now: Draft, before: Draft, part: RestorablePart): Draft {
  if (part.kind !== "field") return { ...now, [part.kind]: partOf(before, part) };
  const old = before.fields.find(({ id }) => id === part.id);
  const others = now.fields.filter(({ id }) => id !== part.id);
  if (!old) return { ...now, fields: others };
  const section = now.sections.some(({ id }) => id === old.section) ? old.section : "";
  const field: DraftField = { ...old, section };
  const index = now.fields.findIndex(({ id }) => id === part.id);
  return { ...now, fields: index < 0 ? [...others, field] : now.fields.with(index, field) };
}
