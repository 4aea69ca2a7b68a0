import { type Manifest, type PartRef, REGISTRY } from "../../model/backup.ts";
import { ok, type Result } from "../../model/result.ts";
import type { Bucket } from "../buckets/bucket.ts";
import { tryBucket } from "../buckets/calls.ts";
import { type Fault, fault } from "../checks/fault.ts";
import { backupContent, partKey } from "./object-keys.ts";

/** What the bucket has lost of a snapshot, as its lists tell without a read of an object. */

/** The registry has no vault. */
export const namedBackup = (vault: string, snapshot: number) => (vault === REGISTRY ? { snapshot } : { vault, snapshot });

/** The parts that are missing or have another size. In: the sizes of the objects of the vault in the bucket, by their keys: bytes. */
export function missingParts({ vault, number, parts }: Manifest, sizes: ReadonlyMap<string, number>): Fault[] {
  const wrong = ({ sha256, bytes }: PartRef) => sizes.get(partKey(vault, sha256)) !== bytes;
  return parts.filter(wrong).map(({ sha256, bytes }) => {
    const size = sizes.get(partKey(vault, sha256));
    const detail = size === undefined ? "the part is missing" : `the part has ${size} bytes instead of ${bytes}`;
    return fault("part_wrong", { ...namedBackup(vault, number), id: sha256 }, detail);
  });
}

/** The most contents of a vault that are counted: one call lists them. */
const COUNTED_CONTENTS_MAX = 1_000;

/**
 * Whether the bucket has fewer contents of a vault than a snapshot names. Only their number is known without a read of each part, so those
 * of earlier snapshots may hide that one is missing. Errors: `unavailable`.
 */
export async function missingContents(bucket: Bucket, { vault, number, parts }: Manifest): Promise<Result<Fault[]>> {
  const named = countContents(parts);
  if (named === 0) return ok([]);
  const limit = Math.min(named, COUNTED_CONTENTS_MAX);
  const page = await tryBucket(() => bucket.list({ prefix: backupContent(`${vault}/`), limit }));
  if (!page.ok) return page;
  const found = page.value.objects.length;
  const detail = `the bucket of backups has ${found} of ${named} contents that the snapshot names`;
  return ok(found < limit ? [fault("content_missing", { vault, snapshot: number }, detail)] : []);
}

/** The number of contents that were copied, at least. Those of an Item that fills several parts may be named by each of them. */
export function countContents(parts: readonly PartRef[]): number {
  const byItem = new Map<string | undefined, number>();
  for (const { item, contents = 0, missing } of parts)
    if (missing === undefined) byItem.set(item, Math.max(contents, byItem.get(item) ?? 0));
  return byItem.values().reduce((sum, contents) => sum + contents, 0);
}
