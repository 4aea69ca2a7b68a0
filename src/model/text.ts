import * as z from "zod/mini";
import { echo } from "./failure.ts";
import { isId, parseId } from "./ids.ts";
import { fits, LIMITS } from "./limits.ts";
import { invalid, ok, type Result } from "./result.ts";

/** Schemas of the JSON values that bodies consist of, and the messages of their errors. */

const TYPES: Readonly<Record<string, string>> = {
  string: "a string",
  boolean: "true or false",
  number: "an integer", // no body has another number
  int: "an integer",
  object: "an object",
  array: "an array",
};

const MISSING = "is missing";

/** The messages of errors for which a schema has none of its own: zod/mini brings no texts. */
z.config({
  localeError({ code, expected, input }) {
    if (input === undefined) return MISSING;
    if (code === "invalid_type") return `is not ${TYPES[expected] ?? expected}`;
    // The number exceeds the integers that JavaScript represents exactly.
    return typeof input === "number" ? "is not an integer" : "is malformed";
  },
});

/** Returns the message of a schema for a refused value, unless the value is absent. */
export const fault = (words: string) => ({
  error: ({ input }: { readonly input?: unknown }) => (input === undefined ? MISSING : words),
});

/** Returns a schema for a text within `limit` bytes of UTF-8, without lone surrogates. */
export function text(limit: number = LIMITS.string) {
  const tooLong = `is longer than ${limit} bytes`;
  return z.string().check(
    z.refine((value) => value.isWellFormed(), "holds half of a surrogate pair"),
    z.maxLength(limit, tooLong), // in characters, as the document expresses it
    z.refine((value) => fits(value, limit), tooLong),
  );
}

/** Returns a schema for an integer within the bounds. */
export const integer = (least: number, most: number) =>
  z.int().check(z.minimum(least, `is less than ${least}`), z.maximum(most, `is more than ${most}`));

/** Returns a check of an object whose fault is the fault of the attribute. */
export const rule = <T>(attribute: string, message: string, holds: (value: NoInfer<T>) => boolean) =>
  z.refine<T>(holds, { path: [attribute], message });

/** Returns a schema for an optional value. `null` means absent, because clients in Go and Python send it. */
export const optional = <S extends z.ZodMiniType>(schema: S) =>
  z.pipe(
    z.nullish(schema),
    z.transform((value) => value ?? undefined),
  );

/** An id in one of its two forms (contract 3). The result is canonical. */
export const anyId = z.pipe(
  z.string(),
  z.transform((value, { issues }) => {
    const id = parseId(value);
    if (id !== undefined && isId(id)) return id;
    issues.push({ code: "custom", message: "is not a UUID or its 26 characters of base32", input: value });
    return z.NEVER;
  }),
);

/** Like `optional`, where the empty text means absent too. */
export const optionalText = (limit?: number) =>
  z.pipe(
    optional(text(limit)),
    z.transform((value) => value || undefined),
  );

/** Returns a schema for one of the words, in any case. The result has the spelling of the list. `""` means absent. */
export const word = <const W extends string>(words: readonly W[], what: string, aliases: Record<string, W> = {}) => {
  const table = new Map<string, W>([...words.map((w) => [w, w] as const), ...Object.entries(aliases)]);
  return z.pipe(
    z.nullish(z.string()),
    z.transform((value, { issues }): W | undefined => {
      if (!value) return undefined;
      const listed = table.get(/^\w+$/.test(value) ? value.toUpperCase() : value);
      if (listed === undefined) issues.push({ code: "custom", message: `is not a ${what}`, input: value });
      return listed;
    }),
  );
};

/** Returns a schema for a list within the limit. Absent means empty. */
export const list = <S extends z.ZodMiniType>(schema: S) =>
  z.pipe(
    z.nullish(z.array(schema).check(z.maxLength(LIMITS.list, `has more than ${LIMITS.list} entries`))),
    z.transform((value) => value ?? []),
  );

/** Parses a value with a schema. `name` is the name of the value in an error at its root. Fails with 400, which has the first fault. */
export function parseValue<S extends z.ZodMiniType>(schema: S, value: unknown, name: string): Result<z.output<S>> {
  const parsed = schema.safeParse(value);
  return parsed.success ? ok(parsed.data) : invalid(explain(parsed.error, name));
}

/**
 * Returns the first fault and its path, as in `fields[2].type: is not a field type`, never a value. `root` is the name of the
 * parsed value in an error at its root.
 */
export function explain(error: z.core.$ZodError, root: string): string {
  const issue = error.issues[0]!;
  const unknown = issue.code === "unrecognized_keys" ? issue.keys[0] : undefined;
  const keys = unknown === undefined ? issue.path : [...issue.path, unknown];
  const path = keys.map((key) => (typeof key === "number" ? `[${key}]` : `.${echo(String(key))}`)).join("");
  return `${path.replace(/^\./, "") || root}: ${unknown === undefined ? issue.message : "is unknown"}`;
}
