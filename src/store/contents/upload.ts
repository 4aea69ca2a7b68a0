import { createCipher } from "../../crypto/chunked.ts";
import { PIECE_BYTES, type Reader, readPieces, sealPieces } from "../../crypto/pieces.ts";
import { sealedFileSize } from "../../model/chunk-sizes.ts";
import type { ContentAddress } from "../../model/file.ts";
import { invalid, ok, type Result } from "../../model/result.ts";
import type { Bucket } from "../buckets/bucket.ts";
import { tryBucket } from "../buckets/calls.ts";
import { contentKey, contextOf } from "./object-keys.ts";
import { putPieces, type UploadPieces } from "./pieces.ts";

/**
 * Seals a stream into a bucket piece by piece, so that it is never wholly in memory. `check` forwards the plain pieces and
 * returns a refusal or a value, which is also the result. Fails as `check` does, with 400 if the stream breaks off, and with
 * `unavailable`. No object is stored then.
 */
export async function putContent<R>(
  bucket: Bucket,
  address: ContentAddress,
  key: Uint8Array,
  stream: ReadableStream<Uint8Array>,
  length: number | undefined,
  check: (pieces: UploadPieces<undefined>) => UploadPieces<R>,
): Promise<Result<R>> {
  const reader = stream.getReader({ mode: "byob" });
  try {
    const cipher = await createCipher(key, contextOf(address));
    const sealed = sealPieces(cipher, check(bodyPieces(reader)));
    return await putPieces(bucket, contentKey(address), sealed, length === undefined ? undefined : sealedFileSize(length));
  } finally {
    await reader.cancel().catch(() => undefined); // after a refusal the rest of the body is not read
  }
}

async function* bodyPieces(reader: Reader): UploadPieces<undefined> {
  try {
    yield* readPieces(reader, PIECE_BYTES);
    return ok(undefined);
  } catch {
    return invalid("the body ended early, or is not what its headers say");
  }
}

/** Deletes a content that no row references. When the bucket fails, the alarm of the coordinator deletes it later. */
export async function deleteContent(bucket: Bucket, address: ContentAddress): Promise<void> {
  await tryBucket(() => bucket.delete([contentKey(address)]));
}
