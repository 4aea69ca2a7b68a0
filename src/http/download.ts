import { create as createDisposition } from "content-disposition";
import type { ContentAddress, KeyedFile } from "../model/file.ts";
import { hasTag } from "../model/item.ts";
import { fail, ok, type Result } from "../model/result.ts";
import { logFailure } from "../log.ts";
import { type ByteRange, openContent } from "../store/contents/download.ts";
import { type Context, traceOf } from "./context.ts";
import { pump } from "../streams.ts";
import { filesOf } from "../store/buckets/r2.ts";

/** Sends a content, whole or in part (RFC 9110 section 14), opened while it is streamed. */

/** Sends the bytes of a File. Errors: `range`; `integrity`, when R2 does not hold what the row describes; `unavailable`. */
export async function sendContent(c: Context, address: ContentAddress, file: KeyedFile): Promise<Result<Response>> {
  const tag = `"${file.generation}"`;
  const headers = {
    "Content-Type": "application/octet-stream",
    "Content-Disposition": createDisposition(file.name),
    "Accept-Ranges": "bytes",
    ETag: tag,
  };
  if (hasTag(c.req.header("If-None-Match"), tag)) return ok(c.body(null, 304, headers));
  const head = c.req.method === "HEAD"; // ranges are defined for GET only (RFC 9110 section 14.2)
  const changed = (c.req.header("If-Range") ?? tag) !== tag;
  const range = parseRange(changed || head ? undefined : c.req.header("Range"), file.size);
  if (!range.ok) return range;
  const { start, end } = range.value ?? { start: 0, end: file.size - 1 };
  const size = end - start + 1;
  const partial: Record<string, string> = range.value ? { "Content-Range": `bytes ${start}-${end}/${file.size}` } : {};
  const lengths = { "Content-Length": String(size), ...partial };
  const status = range.value ? 206 : 200;
  if (head) return ok(c.body(null, status, { ...headers, ...lengths }));
  const content = await openContent(filesOf(c.env), address, file, range.value);
  if (!content.ok) return content;
  const { readable, writable } = new FixedLengthStream(size);
  // The status can no longer change: on a failure the stream ends before the declared length.
  pump(content.value, writable).catch((error: unknown) => logFailure("A download", error, traceOf(c)));
  return ok(c.body(readable, status, { ...headers, ...lengths }));
}

/**
 * Parses a `Range` header (RFC 9110 section 14.2).
 * Out: the requested bytes; `undefined`, for all bytes, without a header or with one that may be ignored: another unit,
 * several ranges, a malformed range. Errors: `range`, when it begins beyond the `size` bytes.
 */
export function parseRange(header: string | undefined, size: number): Result<ByteRange | undefined> {
  const [, first = "", last = ""] = /^bytes=(\d*)-(\d*)$/.exec(header?.trim() ?? "") ?? [];
  if (first === "" && last === "") return ok(undefined);
  if (first === "" && Number(last) === 0) return beyond(size);
  // The last bytes of nothing are all of it.
  if (first === "") return ok(size === 0 ? undefined : { start: Math.max(0, size - Number(last)), end: size - 1 });
  if (last !== "" && Number(last) < Number(first)) return ok(undefined);
  if (Number(first) >= size) return beyond(size);
  return ok({ start: Number(first), end: last === "" ? size - 1 : Math.min(Number(last), size - 1) });
}

const beyond = (size: number) => fail("range", String(size));
