import * as fc from "fast-check";
import { document } from "../../../src/api/openapi/document.ts";
import type { Schema } from "../../../src/api/openapi/types.ts";
import { CHARACTER } from "../../support/characters.ts";

/** Random bodies, from the schemas of the document: such that fulfil them, and mutations of those that may not. */

const { schemas } = document.components;

/** Texts of every kind, among them such as mean something to the service. */
const text = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.string({ unit: CHARACTER, maxLength: 6 }),
  fc.constantFrom(
    "",
    "id",
    "\ud800",
    "3fa85f64-5717-4562-b3fc-2c963f66afa6",
    "h6uf6zcxc5cwfm74fsld6zvpuy",
    "https://hooks.example.com/x",
    "https://issuer.example.com",
    "ada@example.com",
  ),
);

/** Texts of the patterns of the document. */
const PATTERNS: Readonly<Record<string, fc.Arbitrary<string>>> = {
  IdInput: fc.oneof(
    fc.uuid(),
    fc.uuid().map((id) => id.toUpperCase()),
    fc.string({ unit: fc.constantFrom(..."abcz019"), minLength: 26, maxLength: 26 }),
  ),
};
const URLS = fc.constantFrom(
  "https://hooks.example.com/x",
  "HTTPS://hooks.example.com",
  "http://hooks.example.com/",
  "https://127.0.0.1/",
  "https://hooks.example.com:8443/",
  "ftp://a.b.com",
  "https://u:p@hooks.example.com/",
);

/** Values that fulfil a schema. The limits of lengths are met by a few cases, because long texts take long. */
export function valuesOf(schema: Schema): fc.Arbitrary<unknown> {
  const { $ref, anyOf, oneOf, type, enum: words, items, properties, required = [] } = schema;
  if ($ref !== undefined) {
    const name = $ref.slice($ref.lastIndexOf("/") + 1);
    return PATTERNS[name] ?? valuesOf(schemas[name]!);
  }
  const parts = anyOf ?? oneOf;
  if (parts) return fc.oneof(...parts.map(valuesOf));
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (words) return fc.constantFrom(...words);
  if (Array.isArray(type)) return fc.oneof(...type.map((one) => valuesOf({ ...schema, type: one })));
  if (type === "null") return fc.constant(null);
  if (type === "boolean") return fc.boolean();
  if (type === "integer") return integers(schema);
  if (type === "string") return texts(schema);
  if (type === "array") return fc.array(valuesOf(items!), { maxLength: 3 });
  if (properties) {
    const others = fc.dictionary(fc.constantFrom("id", "version", "state", "unknown"), fc.jsonValue({ maxDepth: 1 }), {
      maxKeys: 1,
    });
    const known = fc.record(Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, valuesOf(one)])), {
      requiredKeys: [...required],
    });
    return fc.tuple(others, known).map(([extra, own]) => Object.assign(without(extra, properties), own));
  }
  if (type === "object") return maps(schema);
  return fc.jsonValue({ maxDepth: 2 });
}

const without = (extra: object, properties: object): object =>
  Object.fromEntries(Object.entries(extra).filter(([name]) => !Object.hasOwn(properties, name)));

const integers = ({ minimum = 0, maximum = 100 }: Schema): fc.Arbitrary<number> =>
  fc.oneof(fc.constantFrom(minimum, maximum), fc.integer({ min: minimum, max: Math.min(maximum, 2 ** 31 - 1) }));

function texts({ format, pattern, minLength = 0, maxLength = 64 }: Schema): fc.Arbitrary<string> {
  if (format === "uri") return URLS;
  if (pattern !== undefined) return fc.oneof(fc.stringMatching(new RegExp(pattern)), text);
  const long = fc.constantFrom("x".repeat(maxLength), "é".repeat(maxLength));
  return fc.oneof({ weight: 12, arbitrary: text.filter(({ length }) => length >= minLength) }, { weight: 1, arbitrary: long });
}

/** The validator of the tests encodes names as parts of URLs. */
const isName = (name: unknown): boolean => String(name).isWellFormed();

const maps = ({ propertyNames, additionalProperties }: Schema): fc.Arbitrary<object> =>
  fc
    .array(fc.tuple(valuesOf(propertyNames!).filter(isName), valuesOf(additionalProperties as Schema)), { maxLength: 4 })
    .map((entries) => Object.fromEntries(entries as [string, unknown][]));

/** What replaces a value in a mutation. */
const replacement = fc.oneof(
  fc.constantFrom(
    null,
    "",
    "login",
    "string",
    "totp",
    "letters",
    0,
    -1,
    1.5,
    2 ** 53,
    true,
    false,
    [],
    {},
    [null],
    { id: "" },
    [1],
  ),
  fc.jsonValue({ maxDepth: 1 }),
  fc.constant("y".repeat(70_000)),
);

/** Replaces, removes or adds a value somewhere in a body. In: numbers that choose the places. */
function mutate(value: unknown, path: readonly number[], change: readonly [remove: boolean, by: unknown]): unknown {
  const [choice = 0, ...rest] = path;
  const [remove, by] = change;
  if (typeof value !== "object" || value === null || choice % 5 === 4) return by;
  const keys = Object.keys(value);
  const key = keys[choice % Math.max(1, keys.length)];
  if (key === undefined) return Array.isArray(value) ? [by] : { extra: by };
  if (rest.length === 0 && remove)
    return Array.isArray(value) ? value.toSpliced(Number(key), 1) : without(value, { [key]: true });
  const next = mutate((value as Record<string, unknown>)[key], rest, change);
  return Array.isArray(value) ? value.with(Number(key), next) : { ...value, [key]: next };
}

/** Bodies with up to two mutations, many of which the schema does not allow. */
export const mutationsOf = (schema: Schema): fc.Arbitrary<unknown> =>
  fc
    .tuple(
      valuesOf(schema),
      fc.array(fc.tuple(fc.array(fc.nat(20), { minLength: 1, maxLength: 5 }), fc.tuple(fc.boolean(), replacement)), {
        maxLength: 2,
      }),
    )
    .map(([body, changes]) => changes.reduce<unknown>((one, [path, change]) => mutate(one, path, change), body));
