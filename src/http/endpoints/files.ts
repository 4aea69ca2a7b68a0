import { create as createDisposition } from "content-disposition";
import type { Presented, Schemas } from "../../api/answer.ts";
import { logFailure } from "../../log.ts";
import { admitBytes } from "../../memory-budget.ts";
import { writeId } from "../../model/dialect.ts";
import { type KeyedFile, addressOf, type ContentAddress } from "../../model/file.ts";
import { hasTag } from "../../model/item.ts";
import { LIMITS } from "../../model/limits.ts";
import { parseBoolean, parseVersionOf } from "../../model/query.ts";
import { fail, map, ok, type Result } from "../../model/result.ts";
import { filesOf } from "../../store/buckets/r2.ts";
import { loadContent, type ByteRange, openContent } from "../../store/contents/download.ts";
import { loadFile, loadFiles } from "../../store/items/files.ts";
import { loadFileOfVersion } from "../../store/items/versions.ts";
import { pump } from "../../streams.ts";
import { type Context, traceOf } from "../context.ts";
import { brokenHeader } from "../optional-headers.ts";
import { presentFile } from "../present/items.ts";
import { type Call, type ParseCall, type Reply, type ReplyTo, serveBy } from "../route.ts";

/** Endpoints 7 to 9: the Files of an Item, and their contents. */

/** Parses `inline_files` or `inline_content`: true if the answer contains the contents. Fails with 400. */
const parseInline = ({ query: { rest } }: ParseCall): Result<boolean> => parseBoolean(rest, "inline_files", "inline_content");

export const listFiles = serveBy({
  parse: parseInline,
  async handle(call: Call, inline: boolean): ReplyTo<"listFiles"> {
    const { store, claims: token, vault, item } = call;
    const files = await loadFiles(store, { token, vault }, item);
    if (!files.ok) return files;
    const { brokenFiles } = files.value;
    const marks = { headers: brokenHeader(brokenFiles?.length), broken: brokenFiles !== undefined };
    return map(await presentFiles(call, files.value.files, inline), (json) => ({ json, ...marks }));
  },
});

export const getFile = serveBy({
  parse: parseInline,
  async handle(call: Call, inline: boolean): ReplyTo<"getFile"> {
    const { store, claims: token, vault, item } = call;
    const file = await loadFile(store, { token, vault }, item, call.file);
    if (!file.ok) return file;
    return map(await presentFiles(call, [file.value], inline), (presented) => ({ json: presented[0]! }));
  },
});

/** The content of a File of the current version, or of the version that the query names (contract 14.5). */
export const getFileContent = serveBy({
  parse: ({ query }: ParseCall): Result<number | undefined> => parseVersionOf(query.rest, "version"),
  async handle(call: Call, version: number | undefined): ReplyTo<"getFileContent"> {
    const { store, claims: token, vault, item } = call;
    const access = { token, vault };
    const file = await (version === undefined
      ? loadFile(store, access, item, call.file)
      : loadFileOfVersion(store, access, item, version, call.file));
    const reply = await sendFile(call, file);
    return reply.ok && version !== undefined ? ok({ ...reply.value, version }) : reply;
  },
});

/** Sends the content of a File that was found. */
export async function sendFile({ c, vault, item }: Call, file: Result<KeyedFile>): Promise<Result<Reply<never>>> {
  if (!file.ok) return file;
  return map(await sendContent(c, addressOf(vault, item, file.value), file.value), (response) => ({ response }));
}

/** Fails with `too_large_to_inline`, `rate`, and as the load of a content. */
async function presentFiles(
  call: Call,
  files: readonly KeyedFile[],
  inline: boolean,
): Promise<Result<Presented<Schemas.File>[]>> {
  const { c, store, dialect, vault, item } = call;
  const large = inline ? firstTooLarge(files, store.settings.inlineLimit) : undefined;
  if (large) return fail("too_large_to_inline", writeId(large.id, dialect));
  const admitted = admitBytes(store.share, inline ? files.reduce((sum, { size }) => sum + size, 0) : 0);
  if (!admitted.ok) return admitted;
  const presented: Presented<Schemas.File>[] = [];
  for (const file of files) {
    const content = inline ? await loadContent(filesOf(c.env), addressOf(vault, item, file), file) : ok(undefined);
    if (!content.ok) return content;
    presented.push(presentFile(file, { id: item, vault }, dialect, content.value));
  }
  return ok(presented);
}

/** Returns the first File that is larger than `limit`, or with which the sum of the sizes exceeds its own limit (contract 9.9). */
function firstTooLarge(files: readonly KeyedFile[], limit: number): KeyedFile | undefined {
  let sum = 0;
  return files.find(({ size }) => {
    sum += size;
    return size > limit || sum > LIMITS.inlined;
  });
}

/** Sends a content, whole or in part (RFC 9110 section 14). It is decrypted while it is streamed. */

/** Sends the bytes of a File. Fails with `range`, with `integrity` if the object in R2 does not match the row, and with `unavailable`. */
async function sendContent(c: Context, address: ContentAddress, file: KeyedFile): Promise<Result<Response>> {
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
  // The status can no longer change. On a failure the stream ends before the declared length.
  pump(content.value, writable).catch((error: unknown) => {
    if (!c.req.raw.signal.aborted) logFailure("A download", error, traceOf(c)); // a client that goes away is no failure
  });
  return ok(c.body(readable, status, { ...headers, ...lengths }));
}

/**
 * Parses a `Range` header (RFC 9110 section 14.2). Returns the requested bytes. Returns undefined, for all bytes, without a
 * header or with one that can be ignored: another unit, several ranges, or a malformed range. Fails with `range` if the range
 * begins beyond the `size` bytes.
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
