import { LIMITS } from "../../src/model/limits.ts";
import type { Schema } from "../types.ts";

/** What the schemas are made of. */

/** A reference to a named schema. */
export const ref = (name: string, description?: string): Schema => ({
  $ref: `#/components/schemas/${name}`,
  ...(description !== undefined && { description }),
});

/**
 * An object of an answer: it has these attributes and no others, so that a test finds an attribute that the document lacks.
 * In: the names of the attributes that may be absent.
 */
export const closed = (
  description: string,
  properties: Readonly<Record<string, Schema>>,
  optional: readonly string[] = [],
): Schema => ({
  description,
  type: "object",
  properties,
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
  additionalProperties: false,
});

/** An object of a request. Unknown attributes are dropped (contract 2.16). In: the names of the attributes that have to be there. */
export const open = (
  description: string,
  properties: Readonly<Record<string, Schema>>,
  required: readonly string[] = [],
): Schema => ({ description, type: "object", properties, ...(required.length > 0 && { required }) });

export const arrayOf = (items: Schema, more: Omit<Schema, "items" | "type"> = {}): Schema => ({ type: "array", items, ...more });

/** A text of a request. JSON Schema counts characters, the service bytes of UTF-8: a longer text is refused in any case. */
export const text = (description: string, limit: number = LIMITS.string): Schema => ({
  type: "string",
  maxLength: limit,
  description: `${description} At most ${limit} bytes of UTF-8.`,
});

/** A value of a request that may be `null`, which means absent (contract 2.17). */
export function nullable(schema: Schema): Schema {
  const { type, enum: words, ...rest } = schema;
  if (typeof type !== "string") return { anyOf: [schema, { type: "null" }] };
  return { ...rest, type: [type, "null"], ...(words && { enum: [...words, null] }) };
}

/** An integer of a request or an answer, within what JavaScript represents exactly. */
export const integer = (description: string, minimum: number, maximum: number = Number.MAX_SAFE_INTEGER): Schema => ({
  type: "integer",
  minimum,
  maximum,
  description,
});

export const words = (description: string, values: readonly string[]): Schema => ({ type: "string", enum: values, description });
