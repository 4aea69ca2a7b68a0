import { concat } from "../crypto/bytes.ts";
import { createCipher, sealedFileSize } from "../crypto/chunked.ts";
import { type Reader, sealStream } from "../crypto/pieces.ts";
import type { ContentPlace } from "../model/file.ts";
import { idBytes } from "../model/ids.ts";
import { fail, invalid, ok, type Refusal, type Result } from "../model/result.ts";
import { putPieces } from "./blobs.ts";
import { report } from "./report.ts";

/** The contents of Files in R2, and their way in: sealed piece by piece, never whole in memory. Their way out: open-content.ts. */

/** The name of a content's object: ids alone, never a user's name. Created once, never overwritten. */
export const contentKey = ({ vault, file, generation }: ContentPlace): string => `${vault}/${file}/${generation}`;

/** What binds a content to its place. */
export const contextOf = ({ vault, item, file, generation }: ContentPlace): Uint8Array =>
  concat(...[vault, item, file, generation].map(idBytes));

/** Shown every plain piece of a content, and which is the last; what it answers ends the upload. */
export type See = (plain: Uint8Array, last: boolean) => Promise<Refusal | undefined>;

/**
 * Seals a stream into R2. In: the content's key, and the stream's length where it is known.
 * Errors: what `see` answers; 400 when the stream breaks off; `unavailable`. Whatever goes wrong, no object is left.
 */
export async function putContent(
  bucket: R2Bucket,
  place: ContentPlace,
  key: Uint8Array,
  stream: ReadableStream<Uint8Array>,
  length: number | undefined,
  see: See,
): Promise<Result<undefined>> {
  const reader = stream.getReader({ mode: "byob" });
  let refusal: Refusal | undefined;
  const source: Reader = {
    cancel: (reason) => reader.cancel(reason),
    readAtLeast: (least, view) =>
      reader.readAtLeast(least, view).catch((error: unknown) => {
        refusal = invalid("the body ended early, or is not what its headers say");
        throw error;
      }),
  };
  const watched = async (plain: Uint8Array, last: boolean) => {
    refusal = await see(plain, last);
    if (refusal) throw new Error("refused");
  };
  try {
    const cipher = await createCipher(key, contextOf(place));
    await putPieces(
      bucket,
      contentKey(place),
      sealStream(cipher, source, watched),
      length === undefined ? undefined : sealedFileSize(length),
    );
    return ok(undefined);
  } catch (error) {
    await reader.cancel().catch(() => undefined); // the rest is not wanted
    if (refusal) return refusal;
    report("an upload", error);
    return fail("unavailable");
  }
}

/** Deletes a content that no row came to hold. What fails here, the watch list finds. */
export async function deleteContent(bucket: R2Bucket, place: ContentPlace): Promise<void> {
  await bucket.delete(contentKey(place)).catch((error: unknown) => report("R2", error));
}
