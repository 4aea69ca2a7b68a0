import { recoverCipher } from "../../crypto/chunked.ts";
import { chunkCount, chunkOffset, HEADER_BYTES, SEALED_CHUNK_BYTES, sealedFileSize } from "../../model/chunk-sizes.ts";
import { openStream } from "../../crypto/pieces.ts";
import type { FindingKind } from "../../model/finding.ts";
import type { ContentAddress, KeyedFile } from "../../model/file.ts";
import { ok, type Result } from "../../model/result.ts";
import { contextOf } from "../contents/object-keys.ts";
import type { Bucket } from "../buckets/bucket.ts";
import { tryBucket } from "../buckets/calls.ts";

/** Authenticates a content in a bucket: FILES or BACKUPS. */

export interface ContentFault {
  readonly kind: Extract<FindingKind, `content_${string}`>;
  readonly detail: string;
}

const MISSING: ContentFault = { kind: "content_missing", detail: "the bucket has no object of this key" };

const wrongSize = (size: number, expected: number): ContentFault | undefined =>
  size === expected ? undefined : { kind: "content_size_wrong", detail: `${size} sealed bytes instead of ${expected}` };

/** Chunks are opened in pieces of 64 (crypto/pieces.ts). In: the first one of the piece, and the number of all. */
const damaged = (first: number, count: number): ContentFault => ({
  kind: "content_damaged",
  detail: `one of the chunks ${first} to ${Math.min(first + 63, count - 1)} of ${count} does not open`,
});

/** Whether an object exists with its size, without reading it. In: the expected bytes. Errors: `unavailable`. */
export async function sizeFault(bucket: Bucket, key: string, expected: number): Promise<Result<ContentFault | undefined>> {
  const object = await tryBucket(() => bucket.head(key));
  return object.ok ? ok(object.value ? wrongSize(object.value.size, expected) : MISSING) : object;
}

/**
 * Authenticates the chunks of a content from one on. In: about the most bytes. Out: the bytes that were read, a fault, and the next
 * chunk when the content is not at its end. Errors: `unavailable`.
 */
export async function authenticateContent(
  bucket: Bucket,
  key: string,
  address: ContentAddress,
  file: KeyedFile,
  first: number,
  most: number,
): Promise<Result<{ readonly bytes: number; readonly fault?: ContentFault | undefined; readonly chunk?: number | undefined }>> {
  const count = chunkCount(file.size);
  const last = Math.min(count, first + Math.max(1, Math.floor(most / SEALED_CHUNK_BYTES)));
  const end = last === count ? sealedFileSize(file.size) : chunkOffset(last);
  const whole = first === 0 && last === count;
  const start = first === 0 ? 0 : chunkOffset(first);
  // A range beyond the object throws.
  const size = whole ? ok(undefined) : await sizeFault(bucket, key, sealedFileSize(file.size));
  if (!size.ok || size.value) return size.ok ? ok({ bytes: 0, fault: size.value }) : size;
  const object = await tryBucket(() => bucket.get(key, whole ? undefined : { offset: start, length: end - start }));
  const head = first === 0 ? ok(undefined) : await tryBucket(() => bucket.get(key, { offset: 0, length: HEADER_BYTES }));
  if (!object.ok) return object;
  if (!head.ok) return head;
  if (!object.value) return ok({ bytes: 0, fault: MISSING });
  const reader = object.value.body.getReader({ mode: "byob" });
  const wrong = wrongSize(object.value.size, sealedFileSize(file.size));
  if (wrong) {
    await reader.cancel().catch(() => undefined);
    return ok({ bytes: 0, fault: wrong });
  }
  let chunk = first;
  try {
    const header = head.value ? new Uint8Array(await head.value.arrayBuffer()) : await readHeader(reader);
    const cipher = await recoverCipher(Uint8Array.fromBase64(file.key), contextOf(address), header);
    if (!cipher.ok) return ok({ bytes: HEADER_BYTES, fault: { kind: "content_damaged", detail: "its header does not open" } });
    for await (const piece of openStream(cipher.value, reader, first)) chunk += chunkCount(Math.max(0, piece.length - 1));
  } catch {
    return ok({ bytes: end - start, fault: damaged(chunk, count) });
  } finally {
    await reader.cancel().catch(() => undefined);
  }
  return ok({ bytes: end - start, ...(last < count && { chunk: last }) });
}

async function readHeader(reader: ReadableStreamBYOBReader): Promise<Uint8Array> {
  const { value } = await reader.readAtLeast(HEADER_BYTES, new Uint8Array(HEADER_BYTES));
  return value ?? new Uint8Array();
}
