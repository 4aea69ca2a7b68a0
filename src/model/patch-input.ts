import * as z from "zod/mini";
import { LIMITS } from "./limits.ts";
import { invalid, ok, type Result } from "./result.ts";
import { explain, fault } from "./text.ts";

export const OPS = ["add", "remove", "replace"] as const;

/** In any case: clients in Java send the name of a constant. */
export const op = z.pipe(
  z.transform((value) => (typeof value === "string" ? value.toLowerCase() : value)),
  z.enum(OPS, fault("is not add, remove or replace")),
);

/** One edit of a PATCH: an operation of its body (RFC 6902 section 4). vault/patch.ts checks the value, which depends on the path. */
export const edit = z.object({
  op,
  path: z.string(),
  value: z.optional(z.unknown()), // `remove` has none
});

export type Edit = z.output<typeof edit>;

export const edits = z.array(edit).check(z.maxLength(LIMITS.list, `has more than ${LIMITS.list} operations`));

/** Parses the body of a PATCH. Fails with 400, which has the index of the edit. */
export function parsePatch(body: unknown): Result<Edit[]> {
  const parsed = edits.safeParse(body);
  return parsed.success
    ? ok(parsed.data)
    : invalid(explain(parsed.error, "the patch").replace(/^\[(\d+)\](?:\.|: )/, "operation $1: "));
}
