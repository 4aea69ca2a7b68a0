import * as fc from "fast-check";
import type { Draft, DraftField, DraftUrl } from "../../../packages/console/src/items/draft.ts";
import type { Item } from "../../../src/model/item.ts";

/** Drafts of Items for properties. Ids need escapes in JSON pointers, or are names of properties of every object. */

const ids = fc.constantFrom("a", "b/c", "~", "~1", "__proto__", "username", "");
const text = fc.constantFrom("", "x", "yy", "<b>", "ß\n2");
const named = ids.filter((id) => id !== "");

const field = (section: fc.Arbitrary<string>): fc.Arbitrary<DraftField> =>
  fc.record({
    id: named,
    section,
    type: fc.constantFrom("STRING", "CONCEALED", "URL"),
    purpose: fc.constant(""),
    label: text,
    value: text,
  });

const url: fc.Arbitrary<DraftUrl> = fc.record({ href: text, label: text, primary: fc.boolean() });

const uniqueById = <T extends { readonly id: string }>(entries: fc.Arbitrary<T>): fc.Arbitrary<T[]> =>
  fc.uniqueArray(entries, { selector: ({ id }) => id, maxLength: 5 });

/** One of the fields has a purpose, sometimes. */
const withPurpose = (fields: DraftField[], purpose: DraftField["purpose"]): DraftField[] =>
  fields.map((each, index) => {
    if (index > 0 || purpose === "") return each;
    return { ...each, purpose, type: purpose === "PASSWORD" ? "CONCEALED" : each.type };
  });

export const drafts: fc.Arbitrary<Draft> = uniqueById(fc.record({ id: named, label: text })).chain((sections) =>
  fc.record({
    title: text,
    category: fc.constantFrom("LOGIN", "DATABASE"),
    favorite: fc.boolean(),
    tags: fc.array(text, { maxLength: 3 }),
    urls: fc.array(url, { maxLength: 3 }),
    sections: fc.constant(sections),
    fields: fc
      .tuple(
        uniqueById(field(fc.constantFrom("", ...sections.map(({ id }) => id)))),
        fc.constantFrom("" as const, "USERNAME" as const, "PASSWORD" as const, "NOTES" as const),
      )
      .map(([fields, purpose]) => withPurpose(fields, purpose)),
  }),
);

/** The Item as the service has it whose draft is this one. */
export const storedOf = ({ sections, fields, urls, ...draft }: Draft): Item => ({
  id: "3fa85f64-5717-4562-b3fc-2c963f66afa6",
  vault: "c0ffee00-5717-4562-b3fc-2c963f66afa6",
  version: 1,
  nonce: "",
  createdAt: 0,
  updatedAt: 0,
  lastEditedBy: "x",
  files: [],
  ...draft,
  sections,
  urls: urls.map(({ href, label, primary }) => ({ href, label: label || undefined, primary: primary || undefined })),
  fields: fields.map(({ section, ...rest }) => ({ ...rest, section: section || undefined })),
});
