import type { Manifest, PartRef } from "../../model/backup.ts";
import { ok, type Result } from "../../model/result.ts";
import { partKey } from "./object-keys.ts";
import { tryBucket } from "../buckets/calls.ts";
import type { Bucket } from "../buckets/bucket.ts";

/** The heads of parts. They name the Items of which the rows in earlier parts do not count. */

/** The Items whose rows later parts replace. The parts of the base replace nothing. Errors: `unavailable`. */
export async function replacedAfter(bucket: Bucket, manifest: Manifest, part: number): Promise<Result<ReadonlySet<string>>> {
  const later = manifest.parts.slice(Math.max(part + 1, manifest.base));
  const replaced = new Set<string>();
  for (const ref of later) {
    const head = await readHead(bucket, manifest.vault, ref);
    if (!head.ok) return head;
    for (const item of head.value) replaced.add(item);
  }
  return ok(replaced);
}

/** The bytes of a part that are read for its head. A head is longer only after a change of many Items. */
const HEAD_BYTES_MAX = 64 * 1024;

/** `replaces` of a part. The text is authenticated when the part itself is read. Of a damaged head no Item is replaced. */
function readHead(bucket: Bucket, vault: string, { sha256, bytes }: PartRef): Promise<Result<readonly string[]>> {
  return tryBucket(async () => {
    const key = partKey(vault, sha256);
    if (!(await bucket.head(key))) return [];
    const first = await (await bucket.get(key, { offset: 0, length: Math.min(HEAD_BYTES_MAX, bytes) }))?.text();
    const text = first === undefined || first.includes("\n") ? first : await (await bucket.get(key))?.text();
    try {
      return (JSON.parse(text?.split("\n", 1)[0] ?? "{}") as { replaces?: string[] }).replaces ?? [];
    } catch {
      return [];
    }
  });
}
