import { format as FORMATS } from "@cfworker/json-schema";
import { document } from "../../src/api/openapi/document.ts";
import type { JsonType, Schema } from "../../src/api/openapi/types.ts";

/**
 * Whether a value fulfils a schema of the OpenAPI document. The verdict is that of @cfworker/json-schema (test/openapi/fulfils.test.ts
 * compares the two), which takes many times as long: it keeps the place of every value for its messages.
 */

type Check = (value: unknown) => boolean;

const ofText =
  (check: (text: string) => boolean): Check =>
  (value) =>
    typeof value !== "string" || check(value);
const ofNumber =
  (check: (number: number) => boolean): Check =>
  (value) =>
    typeof value !== "number" || check(value);
const ofArray =
  (check: (array: unknown[]) => boolean): Check =>
  (value) =>
    !Array.isArray(value) || check(value);
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const ofObject =
  (check: (object: Record<string, unknown>) => boolean): Check =>
  (value) =>
    !isObject(value) || check(value);

const TYPES: Readonly<Record<JsonType, Check>> = {
  string: (value) => typeof value === "string",
  integer: (value) => Number.isInteger(value),
  number: (value) => typeof value === "number",
  boolean: (value) => typeof value === "boolean",
  object: isObject,
  array: (value) => Array.isArray(value),
  null: (value) => value === null,
};

/** In code points, as JSON Schema counts. */
const lengthOf = (text: string): number => [...text].length;

const onlyDescribes = () => undefined;

type Keywords = { readonly [K in keyof Schema]-?: (argument: NonNullable<Schema[K]>, schema: Schema) => Check | undefined };

/** What each keyword demands. tsc refuses the table when it lacks a keyword of the document. */
const KEYWORDS: Keywords = {
  title: onlyDescribes,
  description: onlyDescribes,
  examples: onlyDescribes,
  contentEncoding: onlyDescribes,
  contentMediaType: onlyDescribes,
  contentSchema: onlyDescribes,
  $ref: ($ref) => {
    const name = $ref.slice($ref.lastIndexOf("/") + 1);
    // Later, because a schema may refer to itself.
    return (value) => checkOf(document.components.schemas[name]!)(value);
  },
  type: (type) => {
    const checks = [type].flat().map((one) => TYPES[one]);
    return (value) => checks.some((check) => check(value));
  },
  const: (only) => (value) => value === only,
  enum: (words) => {
    const allowed = new Set(words);
    return (value) => allowed.has(value);
  },
  format: (name) => ofText(FORMATS[name]!),
  pattern: (pattern) => {
    const expression = new RegExp(pattern, "u");
    return ofText((text) => expression.test(text));
  },
  minLength: (least) => ofText((text) => lengthOf(text) >= least),
  maxLength: (most) => ofText((text) => text.length <= most || lengthOf(text) <= most),
  minimum: (least) => ofNumber((number) => number >= least),
  maximum: (most) => ofNumber((number) => number <= most),
  items: (schema) => {
    const check = checkOf(schema);
    return ofArray((array) => array.every(check));
  },
  minItems: (least) => ofArray(({ length }) => length >= least),
  properties: (properties) => {
    const checks = Object.entries(properties).map(([name, schema]) => [name, checkOf(schema)] as const);
    return ofObject((object) => checks.every(([name, check]) => !Object.hasOwn(object, name) || check(object[name])));
  },
  required: (names) => ofObject((object) => names.every((name) => Object.hasOwn(object, name))),
  additionalProperties: (schema, { properties = {} }) => {
    const check: Check = typeof schema === "boolean" ? () => schema : checkOf(schema);
    return ofObject((object) => Object.keys(object).every((name) => Object.hasOwn(properties, name) || check(object[name])));
  },
  propertyNames: (schema) => {
    const check = checkOf(schema);
    return ofObject((object) => Object.keys(object).every(check));
  },
  maxProperties: (most) => ofObject((object) => Object.keys(object).length <= most),
  anyOf: (schemas) => {
    const checks = schemas.map(checkOf);
    return (value) => checks.some((check) => check(value));
  },
  oneOf: (schemas) => {
    const checks = schemas.map(checkOf);
    return (value) => checks.filter((check) => check(value)).length === 1;
  },
  not: (schema) => {
    const check = checkOf(schema);
    return (value) => !check(value);
  },
};

const checks = new WeakMap<Schema, Check>();

function checkOf(schema: Schema): Check {
  const known = checks.get(schema);
  if (known) return known;
  const parts = Object.entries(schema).flatMap(([keyword, argument]) => {
    const part = argument === undefined ? undefined : KEYWORDS[keyword as keyof Schema](argument as never, schema);
    return part ?? [];
  });
  const check: Check = (value) => parts.every((part) => part(value));
  checks.set(schema, check);
  return check;
}

/** In: a schema of the document, and a value as JSON.parse gives it. Throws for a keyword that is not in `Schema`. */
export const fulfils = (schema: Schema, value: unknown): boolean => checkOf(schema)(value);
