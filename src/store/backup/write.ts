import type { Keyring } from "../../crypto/keyring.ts";
import type { Manifest, Part, PartRef } from "../../model/backup.ts";
import { ok, type Result } from "../../model/result.ts";
import { type PartOwner, presentPart } from "./part.ts";
import { presentManifest } from "./manifest.ts";
import { manifestKey, partKey } from "./object-keys.ts";
import { tryBucket } from "../buckets/calls.ts";
import type { Bucket } from "../buckets/bucket.ts";

/** Writes the objects of a backup. */

/** Writes a part. Equal rows give the same object, so a slice may be repeated. Errors: `unavailable`. */
export async function writePart(bucket: Bucket, owner: PartOwner, part: Part): Promise<Result<PartRef>> {
  const { text, ref } = await presentPart(owner, part);
  const written = await tryBucket(() => bucket.put(partKey(owner.vault, ref.sha256), text));
  return written.ok ? ok(ref) : written;
}

/** Writes a manifest, unless the bucket has one of its number. Out: whether the bucket has this one. Errors: `unavailable`. */
export async function writeManifest(bucket: Bucket, keyring: Keyring, manifest: Manifest): Promise<Result<boolean>> {
  const text = await presentManifest(keyring, manifest);
  const key = manifestKey(manifest.vault, manifest.number);
  return tryBucket(async () => {
    if ((await bucket.put(key, text, { onlyIf: { etag: undefined } })) === "stored") return true;
    // A slice that was repeated after it had written the manifest.
    const there = await (await bucket.get(key))?.arrayBuffer();
    return there?.byteLength === text.length && crypto.subtle.timingSafeEqual(there, text);
  });
}
