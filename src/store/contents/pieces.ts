import { defect, type Result } from "../../model/result.ts";
import type { Bucket } from "../buckets/bucket.ts";
import { tryBucket } from "../buckets/calls.ts";

/** The pieces of a content that is uploaded. When the generator returns a refusal, the upload ends and nothing is stored. */
export type UploadPieces<R> = AsyncGenerator<Uint8Array, Result<R>>;

/**
 * Stores pieces as an object. Their length is given if it is known. Returns the return value of the pieces. Fails as the pieces
 * do, with `database_full`, or with `unavailable` if the bucket fails or the pieces throw. Nothing is stored then.
 */
export async function putPieces<R>(
  bucket: Bucket,
  key: string,
  pieces: UploadPieces<R>,
  length: number | undefined,
): Promise<Result<R>> {
  const returned: { value?: Result<R> } = {};
  const stored = await tryBucket(async () => {
    try {
      await bucket.put(key, { pieces: accepted(pieces, returned), length });
    } catch (error) {
      if (returned.value?.ok !== false) throw error;
    }
  }, "database_full");
  return stored.ok ? returned.value! : stored;
}

/** Yields the pieces. After a refusal the stream fails before its end, so that nothing is stored. */
async function* accepted<R>(pieces: UploadPieces<R>, returned: { value?: Result<R> }): AsyncGenerator<Uint8Array, void> {
  returned.value = yield* pieces;
  if (!returned.value.ok) throw defect("the pieces were refused");
}
