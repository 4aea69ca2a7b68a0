import { CATEGORIES } from "./categories.ts";
import type { Attribute } from "./comparison.ts";
import type { Draft, DraftUrl } from "./draft.ts";
import { isolate } from "../ui/texts.ts";

/** The attributes of an Item besides its sections and fields: their names and values, for people. */

interface Texts {
  readonly name: string;
  readonly textOf: (draft: Draft) => string;
}

export const textOfUrl = ({ href, label, primary }: DraftUrl): string =>
  [label === "" ? "" : `${isolate(label)}: `, isolate(href), primary ? " (primary)" : ""].join("");

export const ATTRIBUTE_TEXTS: Readonly<Record<Attribute, Texts>> = {
  title: { name: "Title", textOf: ({ title }) => title },
  // A category of a newer release has no label here.
  category: { name: "Category", textOf: ({ category }) => CATEGORIES[category] ?? category },
  favorite: { name: "Favorite", textOf: ({ favorite }) => (favorite ? "yes" : "no") },
  urls: { name: "URLs", textOf: ({ urls }) => urls.map(textOfUrl).join("\n") },
  tags: { name: "Tags", textOf: ({ tags }) => tags.map(isolate).join(", ") },
};
