import { concat } from "../../crypto/bytes.ts";
import type { Result } from "../../model/result.ts";
import { writePieces } from "../../streams.ts";

/** Writes pieces of bytes into objects of R2. */

/** Pieces of a content on its way into R2. A refusal as the return value ends the upload, and nothing is stored. */
export type UploadPieces<R> = AsyncGenerator<Uint8Array, Result<R>>;

/** R2 requires parts of one size, of at least 5 MiB (developers.cloudflare.com/r2/objects/multipart-objects). */
const PART = 8 * 1024 * 1024;

/**
 * Writes an object: in one put when its length is known, else in parts. Out: what the pieces return.
 * Throws what R2 or the pieces throw; nothing is stored then.
 */
export const putPieces = <R>(
  bucket: R2Bucket,
  key: string,
  pieces: UploadPieces<R>,
  length: number | undefined,
): Promise<Result<R>> => (length === undefined ? putParts(bucket, key, pieces) : putWhole(bucket, key, pieces, length));

/** R2 accepts a stream only with a known length, and stores nothing when the stream is shorter or longer. */
async function putWhole<R>(bucket: R2Bucket, key: string, pieces: UploadPieces<R>, length: number): Promise<Result<R>> {
  const { readable, writable } = new FixedLengthStream(length);
  const writer = writable.getWriter();
  const stored = bucket.put(key, readable);
  const written = writePieces(pieces, writer);
  written.catch(() => undefined); // when R2 fails first, nobody awaits it
  const result = await Promise.race([written, stored.then(() => written)]);
  if (result.ok) await Promise.all([writer.close(), stored]);
  // Without an end of the stream R2 stores nothing; the answer does not wait for it.
  else await writer.abort(new Error("the upload was refused")).catch(() => undefined);
  return result;
}

async function putParts<R>(bucket: R2Bucket, key: string, pieces: UploadPieces<R>): Promise<Result<R>> {
  const upload = await bucket.createMultipartUpload(key);
  const abort = () => upload.abort().catch(() => undefined); // R2 deletes an unfinished upload after a week
  try {
    const parts: R2UploadedPart[] = [];
    const groups = regroup(pieces, PART);
    let next = await groups.next();
    for (; !next.done; next = await groups.next()) parts.push(await upload.uploadPart(parts.length + 1, next.value));
    await (next.value.ok ? upload.complete(parts) : abort());
    return next.value;
  } catch (error) {
    await pieces.return(undefined as never).catch(() => undefined);
    await abort();
    throw error;
  }
}

/** The same bytes in pieces of exactly `size` bytes; the last is shorter. */
async function* regroup<R>(pieces: UploadPieces<R>, size: number): UploadPieces<R> {
  let kept: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const next = await pieces.next();
    if (next.done) {
      if (next.value.ok && length > 0) yield concat(...kept);
      return next.value;
    }
    kept.push(next.value);
    length += next.value.length;
    while (length >= size) {
      const all = concat(...kept);
      yield all.subarray(0, size);
      kept = [all.slice(size)];
      length -= size;
    }
  }
}
