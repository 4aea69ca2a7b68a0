import { type ChunkCipher, recoverCipher } from "../../crypto/chunked.ts";
import { type Reader, readPieces } from "../../crypto/pieces.ts";
import type { VaultKeys } from "../../crypto/vault-keys.ts";
import type { Part } from "../../model/backup.ts";
import { HEADER_BYTES, SEALED_CHUNK_BYTES, sealedFileSize } from "../../model/chunk-sizes.ts";
import { addressOf, type ContentAddress, type KeyedFile } from "../../model/file.ts";
import type { Finding } from "../../model/finding.ts";
import { beginPhase, type Position } from "../../model/restore.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import { type BackupStore, loadPart } from "../backup/load.ts";
import { backupContentKey } from "../backup/object-keys.ts";
import { rowsOf } from "../backup/part.ts";
import type { Bucket } from "../buckets/bucket.ts";
import { tryBucket } from "../buckets/calls.ts";
import { fault, findingOf } from "../checks/fault.ts";
import { contentKey, contextOf } from "../contents/object-keys.ts";
import { putPieces, type UploadPieces } from "../contents/pieces.ts";
import { type FileRow, openFile } from "../items/files.ts";
import { TABLES_OF_CONTENTS } from "../tables/tables.ts";
import type { RestorePorts, Step, Stepped } from "./step.ts";
import { findingsOf, readablePart } from "./rows.ts";

/** The Files of a part: the contents that its rows name, with their keys. */

export interface PartFile {
  readonly address: ContentAddress;
  readonly file: KeyedFile;
}

/** The rows of Files of a part, one for each content: several rows may share one. */
export function fileRowsOf(part: Part): FileRow[] {
  const rows = TABLES_OF_CONTENTS.flatMap(({ name }) => rowsOf<FileRow>(part, name));
  return [...new Map(rows.map((row) => [`${row.item_id}/${row.id}/${row.generation}`, row])).values()];
}

/** Returns the Files of a vault whose rows can be decrypted. */
export async function openPartFiles(keys: VaultKeys, vault: string, rows: readonly FileRow[]): Promise<PartFile[]> {
  const opened = await Promise.all(rows.map((row) => openFile(keys, vault, row)));
  return opened.flatMap((file, index) =>
    file.ok ? { file: file.value, address: addressOf(vault, rows[index]!.item_id, file.value) } : [],
  );
}

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

/**
 * The first phase: it loads and checks every part, and copies the contents that FILES does not have. It does not change the vault. A dry
 * run ends with it. The phase `bucket` asks the bucket again, because a sweep that began before the restore may have deleted contents since.
 */

/** Contents that the coordinator records in one call. */
const RECORDED_CONTENTS_MAX = 50;

/** Checks one part, and copies its contents as far as the calls of the step go. Fails with `backup_damaged` or `unavailable`. */
export async function contentsStep(ports: RestorePorts, step: Step): Promise<Result<Stepped>> {
  const { manifest, position } = step;
  const { dryRun } = ports.input;
  const ref = manifest.parts[position.part];
  if (!ref) return ok({ position: nextPhase(position, dryRun) });
  const part = await loadPart(ports.store.backups, manifest, ref);
  if (!part.ok) return part;
  const copied = await copyContents(ports, step, part.value);
  if (!copied.ok) return copied;
  const { next: index, findings: found } = copied.value;
  // One phase makes the findings, so that there is one for each row.
  const isRead = dryRun && position.index === 0;
  const readable = isRead ? await readablePart(ports.store, manifest, part.value, step.keys) : undefined;
  const rows = readable ? await findingsOf(ports.store, step, readable) : [];
  const findings = dryRun || position.phase === "bucket" ? [...rows, ...found] : [];
  const next: Position = index === undefined ? { ...position, part: position.part + 1, index: 0 } : { ...position, index };
  return ok({ position: next, findings });
}

function nextPhase({ phase, rowsLeftOut }: Position, dryRun: boolean): Position {
  if (dryRun) return beginPhase("done");
  return phase === "contents" ? beginPhase("clear") : beginPhase("finish", rowsLeftOut);
}

interface CopiedContents {
  /** The index of the next File; `undefined` when the part has no more. */
  readonly next: number | undefined;
  /** The contents that are missing or damaged in the backup. */
  readonly findings: readonly Finding[];
}

/**
 * Copies the contents of a part that FILES does not have, starting at the File of the position. A dry run only authenticates them. A missing
 * or damaged content becomes a finding, and the other contents are still copied. Fails with `unavailable`.
 */
async function copyContents(ports: RestorePorts, step: Step, part: Part): Promise<Result<CopiedContents>> {
  const { manifest, keys, position } = step;
  const findings: Finding[] = [];
  if (!keys) return ok({ next: undefined, findings }); // the registry has none
  const rows = fileRowsOf(part);
  for (let index = position.index; index < rows.length; index += RECORDED_CONTENTS_MAX) {
    const group = rows.slice(index, index + RECORDED_CONTENTS_MAX);
    if (!ports.input.dryRun) {
      const expected = (await openPartFiles(keys, manifest.vault, group)).map(({ address }) => address);
      const prepared = await ports.prepare(manifest.vault, { expected, released: [] });
      if (!prepared.ok) return prepared;
    }
    for (const [offset, fileRow] of group.entries()) {
      if (index + offset > position.index && ports.isSpent()) return ok({ next: index + offset, findings });
      // A broken row is named with the other rows of the part.
      for (const file of await openPartFiles(keys, manifest.vault, [fileRow])) {
        const copied = await bringContent(ports.store, file, ports.input);
        if (!copied.ok) return copied;
        if (copied.value) findings.push({ ...copied.value, snapshot: manifest.number });
      }
    }
  }
  return ok({ next: undefined, findings });
}
