import { concat } from "../../crypto/bytes.ts";
import { logFailure } from "../../log.ts";
import { fail, invalid, ok, type Result } from "../../model/result.ts";
import { parseManifest } from "../backup/manifest.ts";
import { isBackupKey } from "../backup/object-keys.ts";
import type { BackupStore } from "../backup/ports.ts";

/** Stores an object of a backup that lies in a folder of the operator's. */

/** An object on its way: its length in bytes is known, as R2 requires of a stream. */
export interface Incoming {
  readonly length: number;
  readonly body: ReadableStream<Uint8Array>;
}

/** A manifest is read as a whole: it names each part in about 150 bytes. */
const MANIFEST = 16 * 1024 * 1024;

type Put = (bucket: R2Bucket, key: string, incoming: Incoming, store: BackupStore) => Promise<Result<R2Object | null>>;

/** A content of another length is damaged: a copy was cut off. A part or a manifest of the bucket was checked when it was stored. */
const isReplaced = (key: string, there: R2Object, { length }: Incoming): boolean =>
  key.startsWith("contents/") && there.size !== length;

/** Creates and never overwrites: R2 compares the ETag of what is there (RFC 9110 section 13.1.2). Out: `null` when there is an object. */
const create = (bucket: R2Bucket, key: string, body: ReadableStream | Uint8Array, sha256?: string): Promise<R2Object | null> =>
  bucket.put(key, body, { onlyIf: { etagDoesNotMatch: "*" }, ...(sha256 !== undefined && { sha256 }) });

/** Where an object belongs, and how it is checked. An object that no manifest names harms nothing, so a content is not checked. */
const PLACES: readonly (readonly [pattern: RegExp, put: Put])[] = [
  [/\.manifest$/, putManifest],
  [/\/parts\//, async (bucket, key, { body }) => ok(await create(bucket, key, body, key.slice(-64)))],
  [/^contents\//, async (bucket, key, { body }) => ok(await create(bucket, key, body))],
];

/**
 * Stores an object unless the bucket has it; a content of another length is replaced. Out: whether it was stored. Errors: 400, for a key
 * that is none of a backup; `backup_damaged`, for a part that is not the one of its name and a manifest that is not authentic;
 * `unavailable`.
 */
export async function storeObject(store: BackupStore, key: string, incoming: Incoming): Promise<Result<boolean>> {
  const bucket = store.backups;
  const place = isBackupKey(key) ? PLACES.find(([pattern]) => pattern.test(key)) : undefined;
  if (!place) return invalid("key: is not the key of an object of a backup");
  try {
    const there = await bucket.head(key);
    if (there && !isReplaced(key, there, incoming)) return ok(false);
    if (there) return ok((await bucket.put(key, incoming.body, { onlyIf: { etagMatches: there.etag } })) !== null);
    const stored = await place[1](bucket, key, incoming, store);
    return stored.ok ? ok(stored.value !== null) : stored;
  } catch (error) {
    // R2 compares the SHA-256 itself, and stores nothing when it differs (developers.cloudflare.com/r2/api/workers).
    if (/checksum|SHA-256|\(10037\)/i.test(String(error)))
      return fail("backup_damaged", `${key} has another content than its name says`);
    logFailure("R2", error);
    return fail("unavailable");
  }
}

async function putManifest(bucket: R2Bucket, key: string, { length, body }: Incoming, { keyring }: BackupStore): ReturnType<Put> {
  if (length > MANIFEST) return fail("body_too_large", String(MANIFEST));
  const text = concat(...(await Array.fromAsync(body)));
  const [, vault = "", number] = key.split(/[/.]/);
  const opened = await parseManifest(keyring, { vault, number: Number(number) }, text);
  return opened.ok ? ok(await create(bucket, key, text)) : opened;
}
