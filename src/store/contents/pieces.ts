import type { Result } from "../../model/result.ts";
import type { Bucket } from "../buckets/bucket.ts";
import { tryBucket } from "../buckets/calls.ts";

/** Pieces of a content on its way into a bucket. A refusal as the return value ends the upload, and nothing is stored. */
export type UploadPieces<R> = AsyncGenerator<Uint8Array, Result<R>>;

/**
 * Stores pieces as an object. In: their bytes, where they are known. Out: what the pieces return. Errors: those of the pieces; `unavailable`, when
 * the bucket fails or the pieces throw. Nothing is stored then.
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
  });
  return stored.ok ? returned.value! : stored;
}

/** The pieces, whose end is missing when they return a refusal: so nothing is stored. */
async function* accepted<R>(pieces: UploadPieces<R>, returned: { value?: Result<R> }): AsyncGenerator<Uint8Array, void> {
  returned.value = yield* pieces;
  if (!returned.value.ok) throw new Error("the pieces were refused");
}
