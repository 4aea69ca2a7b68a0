import { concat } from "../../crypto/bytes.ts";
import { defect, fail, invalid, ok, type Result } from "../../model/result.ts";
import { DAY } from "../../model/time.ts";
import { parseManifest } from "../backup/manifest.ts";
import { isBackupKey } from "../../model/backup.ts";
import { CONTENTS, incomingKey } from "../backup/object-keys.ts";
import type { BackupStore } from "../backup/load.ts";
import type { Bucket, ObjectHead, PieceContent, PutOptions, PutOutcome } from "../buckets/bucket.ts";
import { tryBucket } from "../buckets/calls.ts";

/** Stores an object of a backup that the operator's command line uploads from a folder. */

/** An object, or a part of one, as it is uploaded, with its length in bytes. */
interface Incoming {
  readonly length: number;
  readonly body: PieceContent["pieces"];
}

/** The place of the uploaded bytes in their object. */
export interface Place {
  /** The offset of the first byte. */
  readonly first: number;
  /** Bytes of the whole object. */
  readonly size: number;
}

/** Parts of an uploaded object. */
const PARTS_MAX = 10;

/** A manifest is read as a whole: it names each part in about 150 bytes. */
const MANIFEST_BYTES_MAX = 16 * 1024 * 1024;

/** Puts an object. `etag` is that of the replaced object; undefined if there is none. */
type Put = (store: BackupStore, key: string, incoming: Incoming, etag: string | undefined) => Promise<Result<PutOutcome>>;

/** An old part that no manifest names is deleted (backup/prune.ts): before that, this part is stored anew. */
const PART_AGE_MAX_MS = DAY / 2;

/**
 * Returns true if an existing object is replaced. A content cannot be authenticated here. So it is replaced only if FILES has it with the
 * length of the new object, and not of the old one: nobody can replace a good copy. A part or a manifest was checked when it was stored.
 */
async function isReplaced({ files, now }: BackupStore, key: string, old: ObjectHead, length: number): Promise<boolean> {
  if (isPart(key)) return old.uploaded.getTime() < now - PART_AGE_MAX_MS;
  if (!key.startsWith(CONTENTS) || old.size === length) return false;
  return (await files.head(key.slice(CONTENTS.length)))?.size === length;
}

const isPart = (key: string): boolean => key.includes("/parts/");

const put = (
  { backups }: BackupStore,
  key: string,
  { body, length }: Incoming,
  options: PutOptions,
): Promise<Result<PutOutcome>> => tryBucket(() => backups.put(key, { pieces: body, length }, options));

/** The check of each kind of object. A content is not checked, because the restore authenticates it. */
const KINDS: readonly (readonly [pattern: RegExp, put: Put])[] = [
  [/\.manifest$/, putManifest],
  [/\/parts\//, (store, key, incoming, etag) => put(store, key, incoming, { onlyIf: { etag }, sha256: key.slice(-64) })],
  [/^contents\//, (store, key, incoming, etag) => put(store, key, incoming, { onlyIf: { etag } })],
];

/**
 * Stores an object unless the bucket has it. A content is replaced if FILES shows that its copy has the wrong length. A part is kept until
 * the object's last part comes; the object is then stored. Returns true if an object was stored.
 *
 * Fails with 400 for a key that no object of a backup has, and for a part without the parts before it. Fails with `backup_damaged` for an
 * object whose hash is not its name, and for a manifest that is not authentic. Fails with `unavailable` if R2 fails.
 */
export async function storeObject(
  store: BackupStore,
  key: string,
  { length, body }: Incoming,
  { first, size }: Place,
): Promise<Result<boolean>> {
  const { backups } = store;
  const kind = isBackupKey(key) ? KINDS.find(([pattern]) => pattern.test(key)) : undefined;
  if (!kind) return invalid("key: is not the key of an object of a backup");
  const stored = await tryBucket(async () => {
    const old = await backups.head(key);
    return { etag: old?.etag, isKept: old !== undefined && !(await isReplaced(store, key, old, size)) };
  });
  if (!stored.ok) return stored;
  if (stored.value.isKept) return ok(false);
  if (first + length < size) {
    const part = await tryBucket(() => backups.put(incomingKey(key, size, first), { pieces: body, length }));
    return part.ok ? ok(true) : part;
  }
  const parts = await tryBucket(() => partsBefore(backups, key, { first, size }));
  if (!parts.ok) return parts;
  if (!parts.value)
    return invalid(`Content-Range: the ${first} bytes before it were not uploaded, or in more than ${PARTS_MAX - 1} parts`);
  const whole = parts.value.length === 0 ? body : joined(backups, parts.value, body);
  const outcome = await kind[1](store, key, { length: size, body: whole }, stored.value.etag);
  if (!outcome.ok) return outcome; // with the parts in place, because the client sends the last one again
  // Parts that are left are deleted with old backups.
  if (parts.value.length > 0) await tryBucket(() => backups.delete(parts.value!));
  return outcome.value === "damaged"
    ? fail("backup_damaged", `${key} has another content than its name says`)
    : ok(outcome.value === "stored");
}

/** Returns the keys of the parts that follow each other up to the offset `first`; `undefined` when one is missing. */
async function partsBefore(backups: Bucket, key: string, { first, size }: Place): Promise<string[] | undefined> {
  const keys: string[] = [];
  let at = 0;
  while (at < first && keys.length < PARTS_MAX - 1) {
    const part = await backups.head(incomingKey(key, size, at));
    if (!part) return undefined;
    keys.push(part.key);
    at += part.size;
  }
  return at === first ? keys : undefined;
}

/** Yields the bytes of the parts, then those of the body. Throws if the bucket fails. */
async function* joined(backups: Bucket, parts: readonly string[], body: Incoming["body"]): AsyncGenerator<Uint8Array, void> {
  for (const key of parts) {
    const part = await backups.get(key);
    if (!part) throw defect("a part of an upload was deleted meanwhile");
    yield* part.body;
  }
  yield* body;
}

async function putManifest({ backups, keyring }: BackupStore, key: string, { length, body }: Incoming): ReturnType<Put> {
  if (length > MANIFEST_BYTES_MAX) return fail("body_too_large", String(MANIFEST_BYTES_MAX));
  const text = await tryBucket(async () => concat(...(await Array.fromAsync(body))));
  if (!text.ok) return text;
  const [, vault = "", number] = key.split(/[/.]/);
  const opened = await parseManifest(keyring, { vault, number: Number(number) }, text.value);
  return opened.ok ? tryBucket(() => backups.put(key, text.value, { onlyIf: { etag: undefined } })) : opened;
}
