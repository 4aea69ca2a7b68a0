import * as z from "zod";
import { echo } from "./failure.ts";
import { fits, LIMITS } from "./limits.ts";

/** Schemas of the JSON values that every body is made of, and what their errors say. */

/** A text within the limit (bytes of UTF-8) that UTF-8 can hold: no lone surrogate. */
export const text = (limit: number = LIMITS.string) =>
  z
    .string()
    .refine((value) => value.isWellFormed(), "holds half of a surrogate pair")
    .refine((value) => fits(value, limit), `is longer than ${limit} bytes`);

/** `null` means absent, as clients in Go and Python send it. */
export const optional = <S extends z.ZodType>(schema: S) => schema.nullish().transform((value) => value ?? undefined);

/** Like `optional`, where the empty text means absent too. */
export const optionalText = (limit?: number) => optional(text(limit)).transform((value) => value || undefined);

/** A word of the list, in any case; the list's own case comes out. `""` means absent. */
export const word = <const W extends string>(words: readonly W[], what: string, aliases: Record<string, W> = {}) => {
  const table = new Map<string, W>([...words.map((w) => [w, w] as const), ...Object.entries(aliases)]);
  return z
    .string()
    .nullish()
    .transform((value, context): W | undefined => {
      if (!value) return undefined;
      const found = table.get(/^\w+$/.test(value) ? value.toUpperCase() : value);
      if (found === undefined) context.addIssue({ code: "custom", message: `is not a ${what}` });
      return found;
    });
};

/** A list within the limit; absent means empty. */
export const list = <S extends z.ZodType>(schema: S) =>
  z
    .array(schema)
    .max(LIMITS.list, `has more than ${LIMITS.list} entries`)
    .nullish()
    .transform((value) => value ?? []);

/**
 * The first thing that is wrong, and where: `fields[2].type: is not a field type`. Never a value.
 * In: the error of a schema, and the name of what was read, for an error that lies at its root.
 */
export function explain(error: z.ZodError, root: string): string {
  const issue = error.issues[0]!;
  const path = issue.path.map((key) => (typeof key === "number" ? `[${key}]` : `.${echo(String(key))}`)).join("");
  return `${path.replace(/^\./, "") || root}: ${issue.message}`;
}
