import { concat } from "../../crypto/bytes.ts";
import { type ChunkCipher, recoverCipher } from "../../crypto/chunked.ts";
import { openStream, type Reader } from "../../crypto/pieces.ts";
import { CHUNK_BYTES, chunkOffset, HEADER_BYTES, SEALED_CHUNK_BYTES, sealedFileSize } from "../../model/chunk-sizes.ts";
import type { ContentAddress, KeyedFile } from "../../model/file.ts";
import { defect, fail, ok, type Refusal, type Result } from "../../model/result.ts";
import type { Bucket } from "../buckets/bucket.ts";
import { tryBucket } from "../buckets/calls.ts";
import { contentKey, contextOf } from "./object-keys.ts";

/** Loads the contents of Files from R2. They are decrypted piece by piece, and refused if they do not match their row. */

/** The bytes `start` to `end`, both included, of a content. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Opens a content, or the chunks of a range. Returns its bytes in pieces. The first piece is decrypted before the function
 * returns, so that a fault in it is an error and not a broken stream. The iteration throws if a later chunk cannot be decrypted.
 * Fails with `integrity`, also if the object in R2 does not match the row, and with `unavailable`.
 */
export async function openContent(
  bucket: Bucket,
  address: ContentAddress,
  file: KeyedFile,
  range?: ByteRange,
): Promise<Result<AsyncGenerator<Uint8Array>>> {
  const opened = await tryBucket(() => openFound(bucket, address, file, range));
  if (opened.ok) return opened.value;
  // A range beyond the object throws: then the object does not match the row.
  const object = await tryBucket(() => bucket.head(contentKey(address)));
  const damaged = object.ok && object.value?.size !== sealedFileSize(file.size);
  return fail(damaged ? "integrity" : "unavailable");
}

/** Throws when the bucket fails. */
async function openFound(
  bucket: Bucket,
  address: ContentAddress,
  file: KeyedFile,
  range: ByteRange | undefined,
): Promise<Result<AsyncGenerator<Uint8Array>>> {
  const object = await (range ? readSome(bucket, address, range) : readAll(bucket, address));
  if (!object) return fail("integrity");
  if (object.size !== sealedFileSize(file.size)) return closeDamaged(object);
  const cipher = await recoverCipher(Uint8Array.fromBase64(file.key), contextOf(address), object.header);
  if (!cipher.ok) return closeDamaged(object);
  return withFirstOpened(openRange(cipher.value, object.reader, range ?? { start: 0, end: file.size - 1 }));
}

async function closeDamaged({ reader }: Found): Promise<Refusal> {
  await reader.cancel().catch(() => undefined); // the rest is not read
  return fail("integrity");
}

/** Loads a small content as a whole. Fails as `openContent` does. */
export async function loadContent(bucket: Bucket, address: ContentAddress, file: KeyedFile): Promise<Result<Uint8Array>> {
  const opened = await openContent(bucket, address, file);
  if (!opened.ok) return opened;
  try {
    return ok(concat(...(await Array.fromAsync(opened.value))));
  } catch {
    return fail("integrity");
  }
}

interface Found {
  /** The size of the whole object in bytes. */
  readonly size: number;
  readonly header: Uint8Array;
  /** Positioned at the first chunk of the range. */
  readonly reader: Reader;
}

async function readAll(bucket: Bucket, address: ContentAddress): Promise<Found | undefined> {
  const object = await bucket.get(contentKey(address));
  if (!object) return undefined;
  const reader = object.body.getReader({ mode: "byob" });
  const { value } = await reader.readAtLeast(HEADER_BYTES, new Uint8Array(HEADER_BYTES));
  return { size: object.size, header: value ?? new Uint8Array(), reader };
}

async function readSome(bucket: Bucket, address: ContentAddress, { start, end }: ByteRange): Promise<Found | undefined> {
  const [first, last] = [Math.floor(start / CHUNK_BYTES), Math.floor(end / CHUNK_BYTES)];
  const chunks = { offset: chunkOffset(first), length: (last - first + 1) * SEALED_CHUNK_BYTES };
  const [head, object] = await Promise.all([
    bucket.get(contentKey(address), { offset: 0, length: HEADER_BYTES }),
    bucket.get(contentKey(address), chunks),
  ]);
  if (!head || !object) {
    for (const one of [head, object]) await one?.body.cancel(); // the object was deleted between the two
    return undefined;
  }
  return { size: object.size, header: new Uint8Array(await head.arrayBuffer()), reader: object.body.getReader({ mode: "byob" }) };
}

/** Yields the decrypted chunks, cut to the range. */
async function* openRange(cipher: ChunkCipher, reader: Reader, { start, end }: ByteRange): AsyncGenerator<Uint8Array> {
  const first = Math.floor(start / CHUNK_BYTES);
  let position = first * CHUNK_BYTES;
  try {
    for await (const piece of openStream(cipher, reader, first)) {
      yield piece.subarray(Math.max(0, start - position), Math.max(0, end + 1 - position));
      position += piece.length;
    }
    if (position <= end) throw defect("the content ended early");
  } finally {
    await reader.cancel().catch(() => undefined); // the client may have gone away
  }
}

/** Decrypts the first piece, and returns all pieces. */
async function withFirstOpened(pieces: AsyncGenerator<Uint8Array>): Promise<Result<AsyncGenerator<Uint8Array>>> {
  try {
    const first = await pieces.next();
    return ok(
      (async function* () {
        if (!first.done) yield first.value;
        yield* pieces;
      })(),
    );
  } catch {
    return fail("integrity"); // AES-GCM refused it
  }
}
