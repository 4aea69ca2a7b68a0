import { HEADER, type ChunkCipher, recoverCipher, SEALED_CHUNK, sealedFileSize } from "../../crypto/chunked.ts";
import { readPieces, type Reader } from "../../crypto/pieces.ts";
import type { ContentPlace, KeyedFile } from "../../model/file.ts";
import type { Finding } from "../../model/finding.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import { logFailure } from "../../log.ts";
import { backupContentKey } from "../backup/place.ts";
import { putPieces, type UploadPieces } from "../contents/objects.ts";
import { contentKey, contextOf } from "../contents/place.ts";
import { fault, findingOf } from "../verify/stage.ts";
import type { PartFile } from "./files.ts";

/** Copies contents from a backup to FILES. Every chunk is authenticated on the way, and nothing is stored when one does not open. */

/** Sealed chunks that are read at once. */
const CHUNKS = 64;

const keyOf = (file: KeyedFile): Uint8Array => Uint8Array.fromBase64(file.key);

/** Whether FILES has the content: an object of its size, with the header that belongs to its key and place. Throws what R2 throws. */
async function hasContent(files: R2Bucket, place: ContentPlace, file: KeyedFile): Promise<boolean> {
  const object = await files.get(contentKey(place), { range: { offset: 0, length: HEADER } });
  if (object?.size !== sealedFileSize(file.size)) {
    await object?.body.cancel();
    return false;
  }
  return (await recoverCipher(keyOf(file), contextOf(place), new Uint8Array(await object.arrayBuffer()))).ok;
}

/**
 * Copies a content, or without a bucket FILES only authenticates it. Errors: `backup_damaged`, when the backup has no such content or
 * another one; `unavailable`.
 */
async function copyContent(
  backups: R2Bucket,
  files: R2Bucket | undefined,
  place: ContentPlace,
  file: KeyedFile,
): Promise<Result<undefined>> {
  const damaged = (what: string) => fail("backup_damaged", `the content ${contentKey(place)} ${what}`);
  try {
    const object = await backups.get(backupContentKey(place));
    if (!object) return damaged("is missing");
    const reader = object.body.getReader({ mode: "byob" });
    try {
      if (object.size !== sealedFileSize(file.size)) return damaged("has another size than its File");
      const header = await reader.readAtLeast(HEADER, new Uint8Array(HEADER));
      const cipher = await recoverCipher(keyOf(file), contextOf(place), header.value ?? new Uint8Array());
      if (!cipher.ok) return damaged("is not that of its File");
      const pieces = authentic(cipher.value, reader);
      const copied = await (files ? putPieces(files, contentKey(place), pieces, object.size) : readAll(pieces));
      return copied.ok ? ok(undefined) : damaged("is not that of its File");
    } finally {
      await reader.cancel().catch(() => undefined);
    }
  } catch (error) {
    logFailure("The copy of a content", error);
    return fail("unavailable");
  }
}

/**
 * Copies a content that FILES does not have; with `dryRun` only authenticates it. Out: what is wrong with it in the backup. Errors:
 * `unavailable`.
 */
export async function bringContent(
  backups: R2Bucket,
  files: R2Bucket,
  { place, file }: PartFile,
  dryRun: boolean,
): Promise<Result<Finding | undefined>> {
  if (await hasContent(files, place, file).catch(() => false)) return ok(undefined);
  const copied = await copyContent(backups, dryRun ? undefined : files, place, file);
  if (copied.ok || copied.failure.kind !== "backup_damaged") return copied;
  const { vault, item } = place;
  const detail = copied.failure.detail!;
  const kind = detail.endsWith("is missing") ? "content_missing" : "content_damaged";
  return ok(findingOf(fault(kind, { vault, item, file: file.id, id: contentKey(place) }, detail)));
}

async function readAll(pieces: UploadPieces<undefined>): Promise<Result<undefined>> {
  for (;;) {
    const next = await pieces.next();
    if (next.done) return next.value;
  }
}

/** The sealed bytes of a content. Returns `integrity` at the first chunk that does not open. */
async function* authentic(cipher: ChunkCipher, reader: Reader): UploadPieces<undefined> {
  yield cipher.header;
  let index = 0;
  for await (const piece of readPieces(reader, CHUNKS * SEALED_CHUNK)) {
    const copy = piece.slice(); // the buffer is used again for the next piece
    for (let at = 0; at < copy.length; at += SEALED_CHUNK, index++) {
      const opened = await cipher.open(copy.slice(at, at + SEALED_CHUNK), index).catch(() => undefined);
      if (!opened) return fail("integrity");
    }
    if (copy.length > 0) yield copy;
  }
  return ok(undefined);
}
