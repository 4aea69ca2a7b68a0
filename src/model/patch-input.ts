import * as z from "zod";
import { LIMITS } from "./limits.ts";
import { invalid, ok, type Result } from "./result.ts";
import { explain } from "./text.ts";

/** One operation of a PATCH (RFC 6902 section 4). vault/patch.ts checks the value, which depends on the path. */
const operation = z.object({
  op: z.enum(["add", "remove", "replace"], "is not add, remove or replace"),
  path: z.string(),
  value: z.unknown().optional(), // `remove` has none
});

export type PatchOperation = z.output<typeof operation>;

const operations = z.array(operation).max(LIMITS.list, `has more than ${LIMITS.list} operations`);

/** Parses the body of a PATCH. Errors: 400, with the index of the operation. */
export function parsePatch(body: unknown): Result<PatchOperation[]> {
  const parsed = operations.safeParse(body);
  return parsed.success
    ? ok(parsed.data)
    : invalid(explain(parsed.error, "the patch").replace(/^\[(\d+)\]\.?/, "operation $1: "));
}
