import { LIMITS } from "../../../model/limits.ts";
import type { Schema } from "../types.ts";

/** The building blocks of schemas. */

/** Returns a reference to a named schema. */
export const ref = (name: string, description?: string): Schema => ({
  $ref: `#/components/schemas/${name}`,
  ...(description !== undefined && { description }),
});

/**
 * Returns the schema of an object in an answer. It accepts no other attributes, so that a test finds an attribute missing from
 * the document. `optional` names the attributes that can be absent.
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

export const arrayOf = (items: Schema, more: Omit<Schema, "items" | "type"> = {}): Schema => ({ type: "array", items, ...more });

/** Returns the schema of a value in a request that can be `null`, which means absent (contract 2.17). */
export function nullable(schema: Schema): Schema {
  const { type, enum: words, anyOf, ...rest } = schema;
  if (anyOf) return { ...rest, anyOf: [...anyOf, { type: "null" }] };
  if (typeof type !== "string" || schema.const !== undefined) return { anyOf: [schema, { type: "null" }] };
  return { ...rest, type: [type, "null"], ...(words && { enum: [...words, null] }) };
}

/** Returns an integer of a request or an answer, within the range that JavaScript represents exactly. */
export const integer = (description: string, minimum: number, maximum: number = Number.MAX_SAFE_INTEGER): Schema => ({
  type: "integer",
  minimum,
  maximum,
  description,
});

/** Describes the file of `item-vault apply` that has made something (contract 13.29). */
export const MANAGED_BY =
  "The name of the file of `item-vault apply` that makes it; absent: something else does (contract 13.29).";
export const managedBy: Schema = { type: "string", description: MANAGED_BY };

export const words = (description: string, values: readonly string[]): Schema => ({ type: "string", enum: values, description });

/** Returns the schema of a word in a request, with its aliases. `""` and `null` mean absent (contract 2.17). */
export const wordInput = (schema: string, aliases: readonly string[] = []): Schema => ({
  anyOf: [ref(schema), { enum: [...aliases, "", null] }],
});

export const permissions: Schema = byVault(ref("Permission"));

export const tokenPermissions: Schema = byVault({ anyOf: [ref("Permission"), ref("ItemScope")] });

function byVault(value: Schema): Schema {
  return {
    type: "object",
    description: "The permissions by vault id.",
    additionalProperties: value,
    propertyNames: ref("IdInput"),
    maxProperties: LIMITS.tokenVaults,
  };
}

/** A JWK set of an issuer. */
export const keySet: Schema = {
  type: "object",
  properties: {
    keys: {
      type: "array",
      items: { type: "object", additionalProperties: {}, propertyNames: { type: "string" } },
      description: "JWKs (RFC 7517 section 4).",
    },
  },
  required: ["keys"],
  description: "Its public keys, as a JWK set (RFC 7517 section 5); absent: they are fetched.",
};

export const claimValues: Schema = {
  type: "object",
  additionalProperties: { anyOf: [{ type: "string" }, { type: "integer" }, { type: "boolean" }] },
  propertyNames: { type: "string", minLength: 1 },
  description: "The values of the claims, by their names or JSON pointers (RFC 6901).",
};
