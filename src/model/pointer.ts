import { invalid, ok, type Result } from "./result.ts";

/**
 * Parses a JSON pointer (RFC 6901 section 3): `/fields/a~1b` gives `["fields", "a/b"]`. Fails without a leading slash, and for a
 * `~` that is not `~0` or `~1`.
 */
export function parsePointer(pointer: string): Result<string[]> {
  if (!pointer.startsWith("/")) return invalid("the path does not start with /");
  if (/~(?![01])/.test(pointer)) return invalid("the path has a ~ that is neither ~0 nor ~1");
  const tokens = pointer.slice(1).split("/");
  return ok(tokens.map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~")));
}

/**
 * Parses an index into a list of `length` entries (RFC 6901 section 4, RFC 6902 section 4.1). `add` may name the position after
 * the last entry, by its number or as `-`. The other operations must name an existing entry.
 */
export function parseIndex(token: string, length: number, op: "add" | "remove" | "replace"): Result<number> {
  if (token === "-" && op === "add") return ok(length);
  if (!/^(0|[1-9]\d{0,5})$/.test(token)) return invalid("the path has no valid index");
  const index = Number(token);
  return index < length || (op === "add" && index === length) ? ok(index) : invalid("the index is beyond the list");
}
