import { fail, ok, type Result } from "../model/result.ts";
import type { ByteRange } from "../store/contents/download.ts";

/**
 * Parses a `Range` header (RFC 9110 section 14.2).
 * Out: the requested bytes; `undefined`, for all bytes, without a header or with one that may be ignored: another unit,
 * several ranges, a malformed range. Errors: `range`, when it begins beyond the `size` bytes.
 */
export function parseRange(header: string | undefined, size: number): Result<ByteRange | undefined> {
  const [, first = "", last = ""] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.trim() ?? "") ?? [];
  if (first === "" && last === "") return ok(undefined);
  if (first === "" && Number(last) === 0) return beyond(size);
  // The last bytes of nothing are all of it.
  if (first === "") return ok(size === 0 ? undefined : { start: Math.max(0, size - Number(last)), end: size - 1 });
  if (last !== "" && Number(last) < Number(first)) return ok(undefined);
  if (Number(first) >= size) return beyond(size);
  return ok({ start: Number(first), end: last === "" ? size - 1 : Math.min(Number(last), size - 1) });
}

const beyond = (size: number) => fail("range", String(size));
