import { concat } from "../../crypto/bytes.ts";
import { fail, invalid, ok, type Result } from "../../model/result.ts";
import { DAY } from "../../model/time.ts";
import { parseManifest } from "../backup/manifest.ts";
import { isBackupKey } from "../../model/backup.ts";
import type { BackupStore } from "../backup/load.ts";
import type { PieceContent, PutOptions, PutOutcome } from "../buckets/bucket.ts";
import { tryBucket } from "../buckets/calls.ts";

/** Stores an object of a backup that the operator's command line uploads from a folder. */

/** An uploaded object, with its length in bytes. */
interface Incoming {
  readonly length: number;
  readonly body: PieceContent["pieces"];
}

/** A manifest is read as a whole: it names each part in about 150 bytes. */
const MANIFEST_BYTES_MAX = 16 * 1024 * 1024;

/** Puts an object. `etag` is that of the replaced object; undefined if there is none. */
type Put = (store: BackupStore, key: string, incoming: Incoming, etag: string | undefined) => Promise<Result<PutOutcome>>;

/** An old part that no manifest names is deleted (backup/prune.ts): before that, this part is stored anew. */
const PART_AGE_MAX_MS = DAY / 2;

const put = (
  { backups }: BackupStore,
  key: string,
  { body, length }: Incoming,
  options: PutOptions,
): Promise<Result<PutOutcome>> => tryBucket(() => backups.put(key, { pieces: body, length }, options));

/** The check of each kind of object. A content is not checked, because the row of its File has the key. */
const KINDS: readonly (readonly [pattern: RegExp, put: Put])[] = [
  [/\.manifest$/, putManifest],
  [/\/parts\//, (store, key, incoming, etag) => put(store, key, incoming, { onlyIf: { etag }, sha256: key.slice(-64) })],
  [/^contents\//, (store, key, incoming, etag) => put(store, key, incoming, { onlyIf: { etag } })],
];

/**
 * Stores an object unless the bucket has it. Returns true if the object was stored. Fails with 400 for a key that no object of a backup has. Fails with
 * `backup_damaged` for an object whose hash is not its name, and for a manifest that is not authentic. Fails with `unavailable` if R2 fails.
 */
export async function storeObject(store: BackupStore, key: string, incoming: Incoming): Promise<Result<boolean>> {
  const kind = isBackupKey(key) ? KINDS.find(([pattern]) => pattern.test(key)) : undefined;
  if (!kind) return invalid("key: is not the key of an object of a backup");
  const old = await tryBucket(() => store.backups.head(key));
  if (!old.ok) return old;
  const isReplaced = key.includes("/parts/") && old.value && old.value.uploaded.getTime() < store.now - PART_AGE_MAX_MS;
  if (old.value && !isReplaced) return ok(false);
  const outcome = await kind[1](store, key, incoming, old.value?.etag);
  if (!outcome.ok) return outcome;
  return outcome.value === "damaged"
    ? fail("backup_damaged", `${key} has another content than its name says`)
    : ok(outcome.value === "stored");
}

async function putManifest({ backups, keyring }: BackupStore, key: string, { length, body }: Incoming): ReturnType<Put> {
  if (length > MANIFEST_BYTES_MAX) return fail("body_too_large", String(MANIFEST_BYTES_MAX));
  const text = await tryBucket(async () => concat(...(await Array.fromAsync(body))));
  if (!text.ok) return text;
  const [, vault = "", number] = key.split(/[/.]/);
  const opened = await parseManifest(keyring, { vault, number: Number(number) }, text.value);
  return opened.ok ? tryBucket(() => backups.put(key, text.value, { onlyIf: { etag: undefined } })) : opened;
}
