import { FIELD_TYPE_ALIASES } from "../../src/model/field-types.ts";
import { LIMITS } from "../../src/model/limits.ts";
import { RECIPE_LENGTH } from "../../src/model/recipe.ts";
import type { Schema } from "../types.ts";
import { arrayOf, integer, nullable, open, ref, text } from "./shapes.ts";

/** Items in requests (contract 2, 6 and 7). They are open: read-only and unknown attributes are dropped (contract 2.16). */

const optionalText = (description: string, limit?: number) => nullable(text(description, limit));
const list = (items: Schema, description: string) => nullable(arrayOf(items, { maxItems: LIMITS.list, description }));
/** One of the words of a schema, or another spelling. `""` and `null` mean absent (contract 2.17). */
const word = (schema: string, description: string, aliases: readonly string[] = []): Schema => ({
  anyOf: [ref(schema), { enum: [...aliases, "", null] }],
  description,
});

const attributes: Readonly<Record<string, Schema>> = {
  title: optionalText("The title.", LIMITS.title),
  category: ref("Category"),
  favorite: nullable({ type: "boolean", default: false }),
  tags: list(text("A tag."), `The tags, in this order. Together at most ${LIMITS.tags} bytes (contract 12.1).`),
  urls: list(ref("UrlInput"), "The URLs, in this order."),
  sections: list(ref("SectionInput"), "The sections, in this order."),
  fields: list(ref("FieldInput"), "The fields, in this order."),
};

export const itemInputSchemas: Readonly<Record<string, Schema>> = {
  UrlInput: open(
    "A URL of an Item (contract 2.3).",
    { href: text("May be empty."), label: optionalText("A label."), primary: nullable({ type: "boolean" }) },
    ["href"],
  ),
  SectionInput: open("A section of an Item. Without an id it gets a generated one (contract 2.13).", {
    id: optionalText(`At most ${LIMITS.sectionId} bytes (contract 2.14).`),
    label: optionalText("The label."),
  }),
  SectionReferenceInput: open("The section of a field. A section that the Item does not declare is added (contract 2.15).", {
    id: optionalText("An empty id means no section."),
    label: optionalText("The label of a section that is not declared."),
  }),
  Recipe: open("How a value is generated (contract 7.2). A recipe that leaves no character is a 400.", {
    length: nullable({
      ...integer("Characters.", RECIPE_LENGTH.least, RECIPE_LENGTH.most),
      default: RECIPE_LENGTH.default,
    }),
    characterSets: nullable(
      arrayOf(word("CharacterSet", "A set of characters."), { maxItems: LIMITS.list, description: "Empty means all sets." }),
    ),
    excludeCharacters: optionalText("Characters that the value does not have."),
  }),
  FieldInput: open("A field of an Item (contract 2.4).", {
    id: optionalText("Without one, the purpose gives it, or it is generated (contract 2.12, 2.13)."),
    section: nullable(ref("SectionReferenceInput")),
    type: word("FieldType", "The type; STRING when absent (contract 2.7).", Object.keys(FIELD_TYPE_ALIASES)),
    purpose: word("Purpose", "The purpose; an Item has at most one field of each (contract 2.8)."),
    label: optionalText("The label."),
    value: optionalText("The value. Types DATE, MONTH_YEAR and OTP check it (contract 2.10, 2.11)."),
    generate: nullable({
      type: "boolean",
      default: false,
      description: `Gives the field a random value if it has none; at most ${LIMITS.generated} values per request (contract 7.1, 7.8).`,
    }),
    recipe: nullable(ref("Recipe")),
  }),
  NewItem: open(
    "An Item to create. Read-only attributes are ignored (contract 2.16).",
    {
      ...attributes,
      vault: nullable(
        open("An id has to be that of the path. A text that has no form of an id is ignored (contract 2.19).", {
          id: optionalText("The id of the vault."),
        }),
      ),
    },
    ["category"],
  ),
  ItemReplacement: open(
    "The Item that replaces another one, except its Files (contract 2.20). Read-only attributes are ignored (contract 2.16).",
    {
      ...attributes,
      vault: open("The vault of the path.", { id: { ...text("The id of the vault (contract 2.19)."), minLength: 1 } }, ["id"]),
    },
    ["vault", "category"],
  ),
  PatchOperation: open(
    "One change of an Item (contract 6). `add` and `replace` need a value that is not `null`.",
    {
      op: { type: "string", enum: ["add", "remove", "replace"] },
      path: {
        type: "string",
        description: "A JSON pointer (RFC 6901) to the Item, an attribute, a tag, a URL, a section or a field (contract 6.3).",
        examples: ["/fields/password/value", "/tags/-", "/"],
      },
      value: { description: "What the path is set to: its schema is that of the attribute in NewItem." },
    },
    ["op", "path"],
  ),
  Patch: arrayOf(ref("PatchOperation"), {
    maxItems: LIMITS.list,
    description: "Operations that are applied in order, all or none (contract 6.1). An empty array changes nothing.",
  }),
};
