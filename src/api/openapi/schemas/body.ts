import * as z from "zod/mini";
import { FIELD_TYPE_ALIASES } from "../../../model/field-types.ts";
import {
  fieldAttributes,
  fieldInput,
  recipeInput,
  sectionInput,
  sectionReference,
  urlInput,
  edit,
  op,
  OPS,
} from "../../../model/item-input.ts";
import { scope, tokenScope } from "../../../model/scope.ts";
import { anyId } from "../../../model/text.ts";
import { givenKeys } from "../../../model/workload-keys.ts";
import { ruleClaims } from "../../../model/workload-rule.ts";
import { dialect, idInput, issuerUrl, quotaInput } from "../../bodies.ts";
import { canonicalId } from "../../job-bodies.ts";
import type { Schema } from "../types.ts";
import { claimValues, keySet, nullable, permissions, ref, tokenPermissions, wordInput } from "./shapes.ts";

/** The bodies of requests, derived from the parsers of the service: src/api/bodies.ts and src/model/item-input.ts. */

/** Parsers with a name in the document, and parsers whose rule `z.toJSONSchema` cannot express. */
const KNOWN: ReadonlyMap<z.core.$ZodType, Schema> = new Map<z.core.$ZodType, Schema>([
  [canonicalId, ref("Uuid")],
  [anyId, ref("IdInput")],
  [idInput, ref("IdInput")],
  [issuerUrl, { type: "string", format: "uri" }],
  [scope, permissions],
  [tokenScope, tokenPermissions],
  [dialect, ref("Dialect")],
  [ruleClaims, claimValues],
  [givenKeys, keySet],
  [quotaInput, ref("QuotaInput")],
  [urlInput, ref("UrlInput")],
  [sectionInput, ref("SectionInput")],
  [sectionReference, ref("SectionReferenceInput")],
  [fieldInput, ref("FieldInput")],
  [recipeInput, ref("Recipe")],
  [edit, ref("PatchOperation")],
  [op, { type: "string", enum: OPS }],
  [fieldAttributes.type, wordInput("FieldType", Object.keys(FIELD_TYPE_ALIASES))],
  [fieldAttributes.purpose, wordInput("Purpose")],
]);

/** Returns the schema of a parser, without a description. */
export function schemaOf(parser: z.ZodMiniType): Schema {
  const { $schema: _, ...schema } = z.toJSONSchema(parser, {
    io: "input",
    unrepresentable: "any",
    override({ zodSchema, jsonSchema }) {
      // Generators make a tuple of it, with 1,000 types. No array of an answer can be assigned to that.
      delete jsonSchema.maxItems;
      const known = knownSchema(zodSchema);
      if (!known) return;
      for (const key of Object.keys(jsonSchema)) delete jsonSchema[key as keyof typeof jsonSchema];
      Object.assign(jsonSchema, known);
    },
  });
  return simplifyNull(schema as Schema);
}

function knownSchema(parser: z.core.$ZodType): Schema | undefined {
  if (!(parser instanceof z.ZodMiniNullable)) return KNOWN.get(parser);
  const inner = KNOWN.get(parser.def.innerType);
  return inner && nullable(inner);
}

/** Writes the union of one schema and `null` as the document does everywhere: `type: ["string", "null"]` where there is one type. */
function simplifyNull(schema: Schema): Schema {
  const [first, second] = schema.anyOf ?? [];
  return first && second?.type === "null" ? nullable(first) : schema;
}

type Shape = Readonly<Record<string, z.ZodMiniType>>;

/**
 * The documentation of each attribute besides its parser. It is a description, or parts of a schema that replace the parser's
 * parts. An attribute that a request must not have has no documentation.
 */
export type Attributes<S extends Shape> = {
  readonly [Name in keyof S as z.input<S[Name]> extends undefined ? never : Name]: string | Schema;
};

/**
 * Returns the schema of a request's object, from its parser and the descriptions of its attributes. The object is open if its parser drops
 * unknown attributes (contract 2.16).
 */
export function body<S extends Shape>(
  description: string,
  { shape, def }: { readonly shape: S; readonly def: z.core.$ZodObjectDef },
  attributes: Attributes<S>,
): Schema {
  const entries = Object.entries(attributes as Readonly<Record<string, string | Schema>>);
  const required = entries.map(([name]) => name).filter((name) => !shape[name]!.safeParse(undefined).success);
  return {
    description,
    type: "object",
    properties: Object.fromEntries(entries.map(([name, described]) => [name, describe(schemaOf(shape[name]!), described)])),
    ...(required.length > 0 && { required }),
    ...(def.catchall && { additionalProperties: false }),
  };
}

/** JSON Schema counts the characters of a text, and the service its bytes: a description that is a text says so. */
function describe(schema: Schema, described: string | Schema): Schema {
  if (typeof described !== "string") return { ...schema, ...described };
  const limit = schema.maxLength === undefined ? "" : ` At most ${schema.maxLength} bytes of UTF-8.`;
  return { ...schema, description: described + limit };
}
