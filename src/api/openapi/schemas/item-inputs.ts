import * as z from "zod/mini";
import {
  fieldInput,
  itemAttributes,
  recipeInput,
  sectionInput,
  sectionReference,
  urlInput,
  vaultReference,
  edit,
  edits,
} from "../../../model/item-input.ts";
import { LIMITS } from "../../../model/limits.ts";
import { RECIPE_LENGTH } from "../../../model/recipe.ts";
import type { Schema } from "../types.ts";
import { body, schemaOf } from "./body.ts";
import { arrayOf, nullable, ref, wordInput } from "./shapes.ts";

/** Items in requests (contract 2, 6 and 7). They are open: read-only and unknown attributes are dropped (contract 2.16). */

/** Returns the schema of a whole Item. The category and the vault have their own parsers (src/model/item-input.ts). */
const item = (description: string, more: Readonly<Record<string, Schema>>, required: readonly string[]): Schema => {
  const { properties, ...schema } = body(description, z.object(itemAttributes), {
    title: "The title.",
    favorite: "By default false.",
    tags: `The tags, in this order. Each has at most ${LIMITS.string} bytes of UTF-8, and all together ${LIMITS.tags} (contract 12.1).`,
    urls: "The URLs, in this order.",
    sections: "The sections, in this order.",
    fields: "The fields, in this order.",
  });
  return { ...schema, properties: { ...properties, category: ref("Category"), ...more }, required };
};

const vaultOf = (description: string, id: string): Schema => body(description, vaultReference, { id });

export const itemInputSchemas: Readonly<Record<string, Schema>> = {
  UrlInput: body("A URL of an Item (contract 2.3).", urlInput, { href: "May be empty.", label: "A label.", primary: {} }),
  SectionInput: body("A section of an Item. Without an id it gets a generated one (contract 2.13).", sectionInput, {
    id: `At most ${LIMITS.sectionId} bytes (contract 2.14).`,
    label: "The label.",
  }),
  SectionReferenceInput: body(
    "The section of a field. A section that the Item does not declare is added (contract 2.15).",
    sectionReference,
    { id: "An empty id means no section.", label: "The label of a section that is not declared." },
  ),
  Recipe: body("How a value is generated (contract 7.2). A recipe that leaves no character is a 400.", recipeInput, {
    length: `Characters; by default ${RECIPE_LENGTH.default}.`,
    characterSets: nullable(
      arrayOf({ ...wordInput("CharacterSet"), description: "A set of characters." }, { description: "Empty means all sets." }),
    ),
    excludeCharacters: "Characters that the value does not have.",
  }),
  FieldInput: body("A field of an Item (contract 2.4).", fieldInput, {
    id: "Without one, the purpose gives it, or it is generated (contract 2.12, 2.13).",
    section: "The section that it is in; absent: in none.",
    type: "The type; STRING when absent (contract 2.7).",
    purpose: "The purpose; an Item has at most one field of each (contract 2.8).",
    label: "The label.",
    value: "The value. Types DATE, MONTH_YEAR and OTP check it (contract 2.10, 2.11).",
    generate: `Gives the field a random value if it has none, by default no; at most ${LIMITS.generated} values per request (contract 7.1, 7.8).`,
    recipe: "How the value is generated.",
  }),
  NewItem: item(
    "An Item to create. Read-only attributes are ignored (contract 2.16).",
    {
      vault: nullable(
        vaultOf(
          "An id has to be that of the path. A text that has no form of an id is ignored (contract 2.19).",
          "The id of the vault.",
        ),
      ),
    },
    ["category"],
  ),
  ItemReplacement: item(
    "The Item that replaces another one, except its Files (contract 2.20). Read-only attributes are ignored (contract 2.16).",
    {
      vault: {
        description: "The vault of the path.",
        type: "object",
        properties: {
          id: {
            type: "string",
            minLength: 1,
            maxLength: LIMITS.string,
            description: `The id of the vault (contract 2.19). At most ${LIMITS.string} bytes of UTF-8.`,
          },
        },
        required: ["id"],
      },
    },
    ["vault", "category"],
  ),
  PatchOperation: body("One change of an Item (contract 6). `add` and `replace` need a value that is not `null`.", edit, {
    op: {},
    path: {
      description: "A JSON pointer (RFC 6901) to the Item, an attribute, a tag, a URL, a section or a field (contract 6.3).",
      examples: ["/fields/password/value", "/tags/-", "/"],
    },
    value: "What the path is set to: its schema is that of the attribute in NewItem.",
  }),
  Patch: {
    ...schemaOf(edits),
    description: "Operations that are applied in order, all or none (contract 6.1). An empty array changes nothing.",
  },
};
