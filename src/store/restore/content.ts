import { type ChunkCipher, recoverCipher } from "../../crypto/chunked.ts";
import { HEADER_BYTES, SEALED_CHUNK_BYTES, sealedFileSize } from "../../model/chunk-sizes.ts";
import { readPieces, type Reader } from "../../crypto/pieces.ts";
import type { ContentAddress, KeyedFile } from "../../model/file.ts";
import type { Finding } from "../../model/finding.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import { backupContentKey } from "../backup/object-keys.ts";
import type { BackupStore } from "../backup/load.ts";
import { putPieces, type UploadPieces } from "../contents/pieces.ts";
import { contentKey, contextOf } from "../contents/object-keys.ts";
import { fault, findingOf } from "../checks/fault.ts";
import type { PartFile } from "./files.ts";
import type { Bucket } from "../buckets/bucket.ts";
import { tryBucket } from "../buckets/calls.ts";

/** Copies contents from a backup to FILES. Every chunk is authenticated in transit. Nothing is stored if a chunk is invalid. */

/** Sealed chunks of one read. */
const READ_CHUNKS_MAX = 64;

const keyOf = (file: KeyedFile): Uint8Array => Uint8Array.fromBase64(file.key);

/** Returns true if FILES has an object with the size of the content, and the header of its key and address. Throws if the bucket fails. */
async function hasContent(files: Bucket, address: ContentAddress, file: KeyedFile): Promise<boolean> {
  const object = await files.get(contentKey(address), { offset: 0, length: HEADER_BYTES });
  if (object?.size !== sealedFileSize(file.size)) {
    await object?.body.cancel();
    return false;
  }
  return (await recoverCipher(keyOf(file), contextOf(address), new Uint8Array(await object.arrayBuffer()))).ok;
}

interface Damage {
  readonly kind: "content_missing" | "content_damaged";
  readonly detail: string;
}

/** Reads a content and authenticates it, and copies it if a target is given. Returns its fault. Fails with `unavailable`. */
async function readContent(
  from: Bucket,
  key: string,
  to: Bucket | undefined,
  wanted: PartFile,
): Promise<Result<Damage | undefined>> {
  const opened = await tryBucket(() => from.get(key));
  if (!opened.ok) return opened;
  if (!opened.value) return ok(damageOf("content_missing", wanted, "is missing"));
  const { size, body } = opened.value;
  const reader = body.getReader({ mode: "byob" });
  const read = await tryBucket(async () => {
    if (size !== sealedFileSize(wanted.file.size))
      return ok(damageOf("content_damaged", wanted, "has another size than its File"));
    const copied = await copyAuthentic(reader, size, to, wanted);
    if (copied.ok || copied.failure.kind !== "integrity") return copied;
    return ok(damageOf("content_damaged", wanted, "is not that of its File"));
  });
  await reader.cancel().catch(() => undefined);
  return read.ok ? read.value : read;
}

const damageOf = (kind: Damage["kind"], { address }: PartFile, what: string): Damage => ({
  kind,
  detail: `the content ${contentKey(address)} ${what}`,
});

/** Fails with `integrity` at the first byte that is not authentic, and with `unavailable`. Throws if the reader fails. */
async function copyAuthentic(
  reader: Reader,
  size: number,
  to: Bucket | undefined,
  { address, file }: PartFile,
): Promise<Result<undefined>> {
  const header = await reader.readAtLeast(HEADER_BYTES, new Uint8Array(HEADER_BYTES));
  const cipher = await recoverCipher(keyOf(file), contextOf(address), header.value ?? new Uint8Array());
  if (!cipher.ok) return fail("integrity");
  const pieces = authentic(cipher.value, reader);
  return to ? putPieces(to, contentKey(address), pieces, size) : readAll(pieces);
}

interface ContentOptions {
  /** The content is only authenticated, and not copied. */
  readonly dryRun: boolean;
  /** A content that FILES has is read to its end. */
  readonly thorough?: boolean;
}

/** Copies a content that FILES does not have. Returns the fault of the content in the backup. Fails with `unavailable`. */
export async function bringContent(
  { backups, files }: Pick<BackupStore, "backups" | "files">,
  wanted: PartFile,
  { dryRun, thorough = false }: ContentOptions,
): Promise<Result<Finding | undefined>> {
  const { address, file } = wanted;
  const isThere = await hasContent(files, address, file).catch(() => false);
  const there = isThere && thorough ? await readContent(files, contentKey(address), undefined, wanted) : ok(undefined);
  if (isThere && there.ok && !there.value) return ok(undefined);
  const copied = await readContent(backups, backupContentKey(address), dryRun ? undefined : files, wanted);
  if (!copied.ok || !copied.value) return copied as Result<undefined>;
  const { vault, item } = address;
  return ok(findingOf(fault(copied.value.kind, { vault, item, file: file.id, id: contentKey(address) }, copied.value.detail)));
}

async function readAll(pieces: UploadPieces<undefined>): Promise<Result<undefined>> {
  for (;;) {
    const next = await pieces.next();
    if (next.done) return next.value;
  }
}

/** Yields the sealed bytes of a content. Returns `integrity` at the first chunk that cannot be decrypted. */
async function* authentic(cipher: ChunkCipher, reader: Reader): UploadPieces<undefined> {
  yield cipher.header;
  let index = 0;
  for await (const piece of readPieces(reader, READ_CHUNKS_MAX * SEALED_CHUNK_BYTES)) {
    const copy = piece.slice(); // the buffer is used again for the next piece
    for (let at = 0; at < copy.length; at += SEALED_CHUNK_BYTES, index++) {
      const opened = await cipher.open(copy.slice(at, at + SEALED_CHUNK_BYTES), index).catch(() => undefined);
      if (!opened) return fail("integrity");
    }
    if (copy.length > 0) yield copy;
  }
  return ok(undefined);
}
