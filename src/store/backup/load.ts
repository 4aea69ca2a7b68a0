import type { Keyring } from "../../crypto/keyring.ts";
import { logFailure } from "../../log.ts";
import type { Manifest, Part, PartRef } from "../../model/backup.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import { type OpenManifest, parseManifest } from "./manifest.ts";
import { parsePart, type PartOwner } from "./part.ts";
import { manifestKey, manifestPrefix, partKey } from "./object-keys.ts";

/** Loads the objects of a backup from the bucket. Nothing that these functions return is unauthenticated. */

/** Errors: `unavailable`, when R2 fails. */
async function loadObject(bucket: R2Bucket, key: string): Promise<Result<Uint8Array | undefined>> {
  try {
    const object = await bucket.get(key);
    return ok(object ? new Uint8Array(await object.arrayBuffer()) : undefined);
  } catch (error) {
    logFailure("R2", error);
    return fail("unavailable");
  }
}

/** One manifest. Errors: `backup_not_found`, those of `parseManifest`, `unavailable`. */
export async function loadManifest(
  bucket: R2Bucket,
  keyring: Keyring,
  place: Pick<Manifest, "vault" | "number">,
): Promise<Result<OpenManifest>> {
  const text = await loadObject(bucket, manifestKey(place.vault, place.number));
  if (!text.ok) return text;
  return text.value ? parseManifest(keyring, place, text.value) : fail("backup_not_found");
}

/** The numbers of the snapshots of a vault, the oldest first. Errors: `unavailable`. */
export async function listSnapshots(bucket: R2Bucket, vault: string): Promise<Result<number[]>> {
  const numbers: number[] = [];
  try {
    for (let cursor: string | undefined; ;) {
      const page = await bucket.list({ prefix: manifestPrefix(vault), ...(cursor !== undefined && { cursor }) });
      numbers.push(...page.objects.flatMap(({ key }) => Number(/(\d+)\.manifest$/.exec(key)?.[1] ?? []) || []));
      if (!page.truncated) return ok(numbers);
      cursor = page.cursor;
    }
  } catch (error) {
    logFailure("R2", error);
    return fail("unavailable");
  }
}

/** The newest manifest of a vault. Errors: `backup_not_found`, those of `loadManifest`. */
export async function loadNewest(bucket: R2Bucket, keyring: Keyring, vault: string): Promise<Result<OpenManifest>> {
  const numbers = await listSnapshots(bucket, vault);
  if (!numbers.ok) return numbers;
  const number = numbers.value.at(-1);
  return number === undefined ? fail("backup_not_found") : loadManifest(bucket, keyring, { vault, number });
}

/** A part that a manifest names. Errors: `backup_damaged`, also when the part is missing; `unavailable`. */
export async function loadPart(bucket: R2Bucket, owner: PartOwner, ref: PartRef): Promise<Result<Part>> {
  const text = await loadObject(bucket, partKey(owner.vault, ref.sha256));
  if (!text.ok) return text;
  return text.value ? parsePart(owner, ref, text.value) : fail("backup_damaged", `part ${ref.sha256} is missing`);
}
