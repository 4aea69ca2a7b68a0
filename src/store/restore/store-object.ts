import { concat } from "../../crypto/bytes.ts";
import { hashInKey, isBackupKey } from "../../model/backup.ts";
import { fail, invalid, ok, type Result } from "../../model/result.ts";
import { DAY } from "../../model/time.ts";
import type { BackupStore } from "../backup/load.ts";
import { parseManifest } from "../backup/manifest.ts";
import type { PieceContent } from "../buckets/bucket.ts";
import { tryBucket } from "../buckets/calls.ts";

/** Stores an object of a backup that the operator's command line uploads from a folder. */

/** An uploaded object, with its length in bytes. */
type Incoming = PieceContent & { readonly length: number };

/** A manifest is read as a whole: it names each part in about 150 bytes. */
const MANIFEST_BYTES_MAX = 16 * 1024 * 1024;

/** An old part that no manifest names is deleted (backup/prune.ts). To prevent this, the part is stored again. */
const PART_AGE_MAX_MS = DAY / 2;

/**
 * Stores an object unless the bucket has it. Returns true if the object was stored. A content is not checked, because the row of its File has the key.
 * Fails with 400 for a key that no object of a backup has. Fails with `backup_damaged` for a part whose hash is not its name, and for a manifest that
 * is not authentic. Fails with `unavailable` if R2 fails.
 */
export async function storeObject(store: BackupStore, key: string, incoming: Incoming): Promise<Result<boolean>> {
  const { backups, now } = store;
  if (!isBackupKey(key)) return invalid("key: is not the key of an object of a backup");
  const sha256 = hashInKey(key);
  const old = await tryBucket(() => backups.head(key));
  if (!old.ok) return old;
  const isReplaced = sha256 !== undefined && old.value && old.value.uploaded.getTime() < now - PART_AGE_MAX_MS;
  if (old.value && !isReplaced) return ok(false);
  const content = key.endsWith(".manifest") ? await readManifest(store, key, incoming) : ok(incoming);
  if (!content.ok) return content;
  const options = { onlyIf: { etag: old.value?.etag }, ...(sha256 !== undefined && { sha256 }) };
  const outcome = await tryBucket(() => backups.put(key, content.value, options));
  if (!outcome.ok) return outcome;
  return outcome.value === "damaged"
    ? fail("backup_damaged", `${key} has another content than its name says`)
    : ok(outcome.value === "stored");
}

/** Returns the bytes of an authentic manifest. Fails as `parseManifest` does, and with 413. */
async function readManifest({ keyring }: BackupStore, key: string, { length, pieces }: Incoming): Promise<Result<Uint8Array>> {
  if (length > MANIFEST_BYTES_MAX) return fail("body_too_large", String(MANIFEST_BYTES_MAX));
  const text = await tryBucket(async () => concat(...(await Array.fromAsync(pieces))));
  if (!text.ok) return text;
  const [, vault = "", number] = key.split(/[/.]/);
  const opened = await parseManifest(keyring, { vault, number: Number(number) }, text.value);
  return opened.ok ? text : opened;
}
