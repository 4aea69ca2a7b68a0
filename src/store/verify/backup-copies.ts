import { sealedFileSize } from "../../crypto/chunked.ts";
import type { Manifest } from "../../model/backup.ts";
import { placeOf } from "../../model/file.ts";
import { ok, type Result } from "../../model/result.ts";
import { backupContent } from "../backup/place.ts";
import { contentKey } from "../contents/place.ts";
import { namedSnapshot } from "./backup-chain.ts";
import type { CheckedRows } from "./backup-rows.ts";
import { authenticateContent, CONTENT_SLICE, sizeFault } from "./content.ts";
import { type Fault, fault, type VerifyPorts } from "./stage.ts";

/** The contents in a backup that the rows of a part name. */

/** A content of the part, by its number, and a chunk of it. */
interface Place {
  readonly content: number;
  readonly chunk: number;
}

export interface CheckedCopies {
  readonly faults: readonly Fault[];
  readonly checked: { readonly contents: number; readonly bytes: number };
  /** Where the next slice begins; absent when all contents of the part are done. */
  readonly next?: Place | undefined;
}

/** Checks some of the contents. In: the rows of a part; the first content, and its first chunk. Errors: `unavailable`. */
export async function checkCopies(
  { backups, quick }: VerifyPorts,
  { vault, number, missing = [] }: Manifest,
  { files }: CheckedRows,
  { content, chunk: first }: Place,
): Promise<Result<CheckedCopies>> {
  const faults: Fault[] = [];
  let [bytes, contents, chunk] = [0, 0, first];
  for (const [index, { item, file }] of files.entries()) {
    if (index < content) continue;
    const checked = { contents, bytes };
    if (bytes >= CONTENT_SLICE.bytes || contents >= CONTENT_SLICE.contents)
      return ok({ faults, checked, next: { content: index, chunk } });
    const place = placeOf(vault, item, file);
    const key = backupContent(contentKey(place));
    const done = quick
      ? await sizeFault(backups, key, sealedFileSize(file.size))
      : await authenticateContent(backups, key, place, file, chunk, CONTENT_SLICE.bytes - bytes);
    if (!done.ok) return done;
    const result = done.value && "bytes" in done.value ? done.value : { bytes: 0, fault: done.value };
    bytes += result.bytes;
    if (result.fault) {
      const known = missing.includes(contentKey(place)) ? "; it was missing already when the snapshot was made" : "";
      const named = { ...namedSnapshot(vault, number), item, file: file.id, id: file.generation };
      faults.push(fault(result.fault.kind, named, result.fault.detail + known));
    }
    if ("chunk" in result && result.chunk !== undefined)
      return ok({ faults, checked: { contents, bytes }, next: { content: index, chunk: result.chunk } });
    chunk = 0;
    contents++;
  }
  return ok({ faults, checked: { contents, bytes } });
}
