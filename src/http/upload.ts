import { parse as parseDisposition } from "content-disposition";
import type { ContentPlace } from "../model/file.ts";
import { fits, LIMITS } from "../model/limits.ts";
import { fail, invalid, ok, type Result } from "../model/result.ts";
import { putContent, type See } from "../store/contents.ts";
import { isEncoded } from "./body.ts";
import type { Call } from "./route.ts";

/** A body that is the bytes of a file: what its headers say of it, and its way into R2. */

/** The name of a new file: the query's, else that of `Content-Disposition` (RFC 6266). Errors: 400. */
export function readName(c: Call): Result<string> {
  const header = c.req.header("Content-Disposition");
  const name = c.req.query("name") ?? (header === undefined ? undefined : parseDisposition(header).parameters["filename"]);
  if (!name) return invalid("name: is missing: give it in the query, or as filename in Content-Disposition");
  if (!fits(name, LIMITS.fileName)) return invalid(`name: is longer than ${LIMITS.fileName} bytes`);
  return name.isWellFormed() ? ok(name) : invalid("name: holds half of a surrogate pair");
}

/** The section that a new file belongs to, from the query. Errors: 400. */
export function readSection(c: Call): Result<string | undefined> {
  const section = c.req.query("section") || undefined;
  return section === undefined || fits(section, LIMITS.string)
    ? ok(section)
    : invalid(`section: is longer than ${LIMITS.string} bytes`);
}

export interface Upload {
  /** Bytes, where the client says; else the body comes in parts. */
  readonly length: number | undefined;
  /** SHA-256, in base64, that the bytes must have. */
  readonly digest: string | undefined;
}

/** Reads the headers of an upload. Errors: 400, 413, 415. */
export function readUpload(c: Call): Result<Upload> {
  if (isEncoded(c.req.raw)) return fail("encoding");
  const declared = c.req.header("Content-Length");
  if (declared !== undefined && !/^\d{1,15}$/.test(declared)) return invalid("Content-Length: is not a number of bytes");
  const length = declared === undefined ? undefined : Number(declared);
  if (length !== undefined && length > LIMITS.file) return fail("body_too_large", String(LIMITS.file));
  const header = c.req.header("Content-Digest");
  const digest = /(?:^|,)\s*sha-256=:([A-Za-z0-9+/]{43}=):/.exec(header ?? "")?.[1]; // RFC 9530 section 2
  if (header !== undefined && digest === undefined) return invalid("Content-Digest: has no sha-256 of 32 bytes");
  return ok({ length, digest });
}

export interface Received {
  readonly size: number;
  /** SHA-256 of the bytes; absent when nobody asked for it. */
  readonly hash: Uint8Array | undefined;
}

/**
 * Streams the body into R2, sealed. In: the content's place and key; whether its hash is wanted besides a digest.
 * Errors: 400 when the digest is another, 413, `unavailable`. Nothing is stored then.
 */
export async function receive(
  c: Call,
  place: ContentPlace,
  key: Uint8Array,
  upload: Upload,
  hashWanted: boolean,
): Promise<Result<Received>> {
  const hashing = hashWanted || upload.digest !== undefined ? new crypto.DigestStream("SHA-256") : undefined;
  const hasher = hashing?.getWriter();
  let size = 0;
  let hash: Uint8Array | undefined;
  const see: See = async (plain, last) => {
    size += plain.length;
    if (size > LIMITS.file) return fail("body_too_large", String(LIMITS.file));
    // Over HTTP the platform sees to it; a Worker that calls this one can send what it likes.
    const { length = size } = upload;
    if (size > length || (last && size < length)) return invalid("the body is not as long as its Content-Length says");
    // The runtime detaches what a stream is given.
    await hasher?.write(plain.slice());
    if (!last || !hashing) return undefined;
    await hasher?.close();
    hash = new Uint8Array(await hashing.digest);
    const wrong = upload.digest !== undefined && hash.toBase64() !== upload.digest;
    return wrong ? invalid("Content-Digest: is not that of the body") : undefined;
  };
  const stream = c.req.raw.body ?? new Response(new Uint8Array()).body!;
  const put = await putContent(c.env.FILES, place, key, stream, c.req.raw.body ? upload.length : 0, see);
  return put.ok ? ok({ size, hash }) : put;
}
