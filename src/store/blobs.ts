import { concat } from "../crypto/bytes.ts";

/** How pieces become an object of R2. */

/** R2 wants parts of one size, of at least 5 MiB (developers.cloudflare.com/r2/objects/multipart-objects). */
const PART = 8 * 1024 * 1024;

/** Writes an object, in one put when its length is known, else in parts. Throws what R2 or the pieces throw; nothing is stored then. */
export async function putPieces(
  bucket: R2Bucket,
  key: string,
  pieces: AsyncGenerator<Uint8Array>,
  length: number | undefined,
): Promise<void> {
  await (length === undefined ? putParts(bucket, key, pieces) : putWhole(bucket, key, pieces, length));
}

/** A put takes a stream only when its length is known: less or more than that, and it stores nothing. */
async function putWhole(bucket: R2Bucket, key: string, pieces: AsyncGenerator<Uint8Array>, length: number): Promise<void> {
  const { readable, writable } = new FixedLengthStream(length);
  await Promise.all([bucket.put(key, readable), pump(pieces, writable)]);
}

async function putParts(bucket: R2Bucket, key: string, pieces: AsyncGenerator<Uint8Array>): Promise<void> {
  const upload = await bucket.createMultipartUpload(key);
  try {
    const parts: R2UploadedPart[] = [];
    for await (const part of regrouped(pieces, PART)) parts.push(await upload.uploadPart(parts.length + 1, part));
    await upload.complete(parts);
  } catch (error) {
    await upload.abort().catch(() => undefined); // R2 forgets an unfinished upload by itself after a week
    throw error;
  }
}

/** The same bytes in pieces of exactly `size`, the last one shorter. */
async function* regrouped(pieces: AsyncGenerator<Uint8Array>, size: number): AsyncGenerator<Uint8Array> {
  let kept: Uint8Array[] = [];
  let length = 0;
  for await (const piece of pieces) {
    kept.push(piece);
    length += piece.length;
    while (length >= size) {
      const all = concat(...kept);
      yield all.subarray(0, size);
      kept = [all.slice(size)];
      length -= size;
    }
  }
  if (length > 0) yield concat(...kept);
}

/**
 * Writes the pieces into a stream, and makes each while the one before it is being taken.
 * An error among them aborts the stream, so that its end never looks like that of the whole.
 */
export async function pump(pieces: AsyncGenerator<Uint8Array>, writable: WritableStream<Uint8Array>): Promise<void> {
  const writer = writable.getWriter();
  try {
    for (let next = await pieces.next(); !next.done;) {
      const following = pieces.next();
      following.catch(() => undefined); // it is looked at below, unless the writing fails first
      await writer.write(next.value);
      next = await following;
    }
    await writer.close();
  } catch (error) {
    await writer.abort(error).catch(() => undefined);
    await pieces.return(undefined);
    throw error;
  }
}
