import { concat } from "../../crypto/bytes.ts";
import { defect } from "../../model/result.ts";
import { pump } from "../../streams.ts";
import type { Bucket, ListOptions, ObjectContent, ObjectPage, PieceContent, PutOptions, PutOutcome } from "./bucket.ts";

/** Buckets in R2 (developers.cloudflare.com/r2/api/workers/workers-api-reference). */

/** Returns the bucket of the contents of Files, and of the archive of the log. */
export const filesOf = ({ FILES }: Pick<Env, "FILES">): Bucket => r2Bucket(FILES);

/** Returns the bucket of backups, if wrangler.toml binds one: a deployment may have no backups. */
export const backupsOf = ({ BACKUPS }: { readonly BACKUPS?: R2Bucket }): Bucket | undefined => BACKUPS && r2Bucket(BACKUPS);

export const r2Bucket = (bucket: R2Bucket): Bucket => ({
  head: async (key) => (await bucket.head(key)) ?? undefined,
  get: async (key, range) => (await bucket.get(key, range && { range })) ?? undefined,
  put: (key, content, options = {}) => put(bucket, key, content, options),
  list: (options = {}) => list(bucket, options),
  delete: (keys) => deleteKeys(bucket, keys),
});

async function put(bucket: R2Bucket, key: string, content: ObjectContent, { onlyIf, sha256 }: PutOptions): Promise<PutOutcome> {
  const options: R2PutOptions = {
    ...(onlyIf && { onlyIf: onlyIf.etag === undefined ? { etagDoesNotMatch: "*" } : { etagMatches: onlyIf.etag } }),
    ...(sha256 !== undefined && { sha256 }),
  };
  const isWhole = typeof content === "string" || content instanceof Uint8Array;
  try {
    return isWhole ? outcomeOf(await bucket.put(key, content, options)) : await putPieces(bucket, key, content, options);
  } catch (error) {
    // R2 compares the SHA-256 itself, and stores nothing when it differs.
    if (sha256 !== undefined && /checksum|SHA-256|\(10037\)/i.test(String(error))) return "damaged";
    throw error;
  }
}

const outcomeOf = (stored: R2Object | null): PutOutcome => (stored === null ? "refused" : "stored");

const putPieces = (
  bucket: R2Bucket,
  key: string,
  { pieces, length }: PieceContent,
  options: R2PutOptions,
): Promise<PutOutcome> =>
  length === undefined ? putParts(bucket, key, pieces) : putStream(bucket, key, pieces, length, options);

/** R2 accepts a stream only with a known length, and stores nothing when the stream is shorter or longer. */
async function putStream(
  bucket: R2Bucket,
  key: string,
  pieces: PieceContent["pieces"],
  length: number,
  options: R2PutOptions,
): Promise<PutOutcome> {
  const { readable, writable } = new FixedLengthStream(length);
  const stored = bucket.put(key, readable, options);
  const rest = new AbortController();
  const isStream = pieces instanceof ReadableStream;
  const written = isStream ? pieces.pipeTo(writable, { signal: rest.signal }) : pump(pieces, writable);
  written.catch(() => undefined); // when R2 fails or refuses first, nobody awaits it
  try {
    return outcomeOf(await Promise.race([stored, written.then(() => stored)]));
  } finally {
    // The rest of the pieces is not read.
    rest.abort();
    if (!isStream) pieces.return().catch(() => undefined);
  }
}

/** R2 requires parts of one size, of at least 5 MiB (developers.cloudflare.com/r2/objects/multipart-objects). */
export const PART_BYTES = 8 * 1024 * 1024;

async function putParts(bucket: R2Bucket, key: string, pieces: PieceContent["pieces"]): Promise<PutOutcome> {
  const upload = await bucket.createMultipartUpload(key);
  try {
    const parts: R2UploadedPart[] = [];
    for await (const part of regroup(pieces)) parts.push(await upload.uploadPart(parts.length + 1, part));
    await upload.complete(parts);
    return "stored";
  } catch (error) {
    await upload.abort().catch(() => undefined); // R2 deletes an unfinished upload after a week
    throw error;
  }
}

/** Yields the same bytes in pieces of exactly `PART_BYTES`; the last piece is shorter. */
async function* regroup(pieces: PieceContent["pieces"]): AsyncGenerator<Uint8Array, void> {
  let kept: Uint8Array[] = [];
  let length = 0;
  for await (const piece of pieces) {
    kept.push(piece);
    length += piece.length;
    while (length >= PART_BYTES) {
      const all = concat(...kept);
      yield all.subarray(0, PART_BYTES);
      kept = [all.slice(PART_BYTES)];
      length -= PART_BYTES;
    }
  }
  if (length > 0) yield concat(...kept);
}

async function list(bucket: R2Bucket, { prefix, folders, after, limit }: ListOptions): Promise<ObjectPage> {
  const page = await bucket.list({
    ...(prefix !== undefined && { prefix }),
    ...(folders && { delimiter: "/" }),
    ...(after !== undefined && after !== "" && { startAfter: after }),
    ...(limit !== undefined && { limit }),
  });
  const { objects, delimitedPrefixes, truncated } = page;
  const found = delimitedPrefixes.map((folder) => folder.slice(0, -1)).toSorted();
  return { objects, folders: found, next: truncated ? nextOf(objects.at(-1)?.key, found.at(-1)) : undefined };
}

/** R2 would list a folder again behind its own name: 0 is the character after the slash. */
function nextOf(key: string | undefined, folder: string | undefined): string {
  const last = [...(key === undefined ? [] : [key]), ...(folder === undefined ? [] : [`${folder}0`])].toSorted().at(-1);
  if (last === undefined) throw defect("R2 gave an empty page that is not the last one");
  return last;
}

/** R2 deletes at most 1,000 objects in one call. */
async function deleteKeys(bucket: R2Bucket, keys: readonly string[]): Promise<void> {
  for (let from = 0; from < keys.length; from += 1_000) await bucket.delete(keys.slice(from, from + 1_000));
}
