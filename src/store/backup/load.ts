import type { Keyring } from "../../crypto/keyring.ts";
import { isBackupKey, type Manifest, type Part, type PartRef, REGISTRY } from "../../model/backup.ts";
import { isId } from "../../model/ids.ts";
import type { Skipped } from "../../model/restore.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import type { Bucket, ObjectHead, OpenObject } from "../buckets/bucket.ts";
import { listAll, pagesOf, tryBucket } from "../buckets/calls.ts";
import { backupsOf, filesOf } from "../buckets/r2.ts";
import type { Store } from "../d1/database.ts";
import { type OpenManifest, parseManifest } from "./manifest.ts";
import { FOLDERS, folderOf, manifestKey, manifestPrefix, numberOfManifest, partKey } from "./object-keys.ts";
import { parsePart, type PartOwner } from "./part.ts";

/** Loads and lists the objects of backups. The manifests and parts that these functions return are authentic. */

/** A store with its two buckets. */
export interface BackupStore extends Store {
  /** The bucket BACKUPS. */
  readonly backups: Bucket;
  /** The bucket FILES. */
  readonly files: Bucket;
}

export type BucketBindings = Parameters<typeof filesOf>[0] & Parameters<typeof backupsOf>[0];

/** Adds the buckets to a store. Fails with `misconfigured` if wrangler.toml binds no bucket BACKUPS. */
export function withBuckets(store: Store, env: BucketBindings): Result<BackupStore> {
  const backups = backupsOf(env);
  return backups ? ok({ ...store, backups, files: filesOf(env) }) : fail("misconfigured", "no bucket BACKUPS is bound");
}

/** Fails with `unavailable`. */
const loadBytes = (bucket: Bucket, key: string): Promise<Result<Uint8Array | undefined>> =>
  tryBucket(async () => {
    const object = await bucket.get(key);
    return object && new Uint8Array(await object.arrayBuffer());
  });

/** Loads a manifest. Fails with `backup_not_found`, `unavailable`, and as `parseManifest`. */
export async function loadManifest(
  bucket: Bucket,
  keyring: Keyring,
  backup: Pick<Manifest, "vault" | "number">,
): Promise<Result<OpenManifest>> {
  const text = await loadBytes(bucket, manifestKey(backup.vault, backup.number));
  if (!text.ok) return text;
  return text.value ? parseManifest(keyring, backup, text.value) : fail("backup_not_found");
}

/** Returns the numbers of the backups of a vault, the oldest first. Fails with `unavailable`. */
export const listBackupNumbers = (bucket: Bucket, vault: string): Promise<Result<number[]>> =>
  tryBucket(async () => numbersOf(await listAll(bucket, manifestPrefix(vault))));

const numbersOf = (objects: readonly ObjectHead[]): number[] => objects.flatMap(({ key }) => numberOfManifest(key) ?? []);

/** Loads the newest manifest of a vault. Fails with `backup_not_found`, and as `loadManifest`. */
export async function loadNewest(bucket: Bucket, keyring: Keyring, vault: string): Promise<Result<OpenManifest>> {
  const numbers = await listBackupNumbers(bucket, vault);
  if (!numbers.ok) return numbers;
  const number = numbers.value.at(-1);
  return number === undefined ? fail("backup_not_found") : loadManifest(bucket, keyring, { vault, number });
}

/** Loads a part that a manifest names. Fails as `parsePart` does, with `backup_damaged` if the part is missing, and with `unavailable`. */
export async function loadPart(bucket: Bucket, owner: PartOwner, ref: PartRef): Promise<Result<Part>> {
  const text = await loadBytes(bucket, partKey(owner.vault, ref.sha256));
  if (!text.ok) return text;
  return text.value ? parsePart(owner, ref, text.value) : fail("backup_damaged", `part ${ref.sha256} is missing`);
}

/** Sizes of objects of the bucket in bytes, by their keys. */
type Sizes = ReadonlyMap<string, number>;

/** Lists the parts of a vault. Fails with `unavailable`. */
export const loadPartSizes = (bucket: Bucket, vault: string): Promise<Result<Sizes>> =>
  tryBucket(async () => sizesOf(await listAll(bucket, partKey(vault, ""))));

const sizesOf = (objects: readonly ObjectHead[]): Sizes => new Map(objects.map(({ key, size }) => [key, size]));

/** The folder of a vault: the numbers of its backups, the oldest first, and the sizes of its objects. */
interface Folder {
  readonly numbers: readonly number[];
  readonly sizes: Sizes;
}

/** Lists manifests and parts of a vault at once. Fails with `unavailable`. */
export const listFolder = (bucket: Bucket, vault: string): Promise<Result<Folder>> =>
  tryBucket(async () => {
    const objects = await listAll(bucket, `${folderOf(vault)}/`);
    return { numbers: numbersOf(objects), sizes: sizesOf(objects) };
  });

interface LostPart {
  readonly sha256: string;
  /** Continues a sentence that begins with the part. */
  readonly fault: string;
}

/** Returns the parts of a manifest that the bucket lacks, or has with another size. */
export const lostParts = ({ vault, parts }: Pick<Manifest, "vault" | "parts">, sizes: Sizes): LostPart[] =>
  parts.flatMap(({ sha256, bytes }) => {
    const size = sizes.get(partKey(vault, sha256));
    if (size === bytes) return [];
    return [{ sha256, fault: size === undefined ? "is missing" : `has ${size} bytes instead of ${bytes}` }];
  });

/** Ids of vaults that have a folder in the bucket. */
export interface FolderPage {
  readonly vaults: readonly string[];
  /** The id after which the next page begins; absent on the last one. */
  readonly next: string | undefined;
}

/**
 * Lists vaults that have a folder in the bucket, in the order of their ids. Ignores other folders. The page begins after the id `after`, which may be
 * empty. Fails with `unavailable`.
 */
export const listFolders = (bucket: Bucket, after: string, limit: number): Promise<Result<FolderPage>> =>
  tryBucket(async () => {
    const start = `${folderOf(after || REGISTRY)}0`; // 0 is the character after the slash
    for await (const { folders, next } of pagesOf(bucket, { prefix: FOLDERS, folders: true, after: start, limit })) {
      const vaults = folders.map((folder) => folder.slice(FOLDERS.length)).filter(isId);
      if (vaults.length > 0 || next === undefined) return { vaults, next: next === undefined ? undefined : vaults.at(-1) };
    }
    return { vaults: [], next: undefined };
  });

/**
 * Returns the newest backup that `open` accepts, and the newer ones that it refuses, the newest first. `numbers` begin with the oldest backup. Fails
 * with `unavailable`.
 */
export async function findOpen<T>(
  numbers: readonly number[],
  open: (number: number) => Promise<Result<T>>,
): Promise<Result<{ readonly newest: T | undefined; readonly skipped: readonly Skipped[] }>> {
  const skipped: Skipped[] = [];
  for (const number of numbers.toReversed()) {
    const opened = await open(number);
    if (opened.ok) return ok({ newest: opened.value, skipped });
    if (opened.failure.kind === "unavailable") return opened;
    skipped.push({ snapshot: number, reason: opened.failure.detail ?? "it is missing" });
  }
  return ok({ newest: undefined, skipped });
}

const LISTED_BACKUPS_MAX = 100;

/**
 * Lists the newest backups of a vault, or of the registry, the newest first. `present` gets the failure of a manifest that cannot be read.
 * Manifests may be large, so one at a time is in memory. Fails with `unavailable`.
 */
export async function loadBackups<T>(
  { backups, keyring }: BackupStore,
  vault: string,
  present: (number: number, opened: Result<OpenManifest>) => T,
): Promise<Result<T[]>> {
  const numbers = await listBackupNumbers(backups, vault);
  if (!numbers.ok) return numbers;
  const listed: T[] = [];
  for (const number of numbers.value.slice(-LISTED_BACKUPS_MAX).toReversed()) {
    const open = await loadManifest(backups, keyring, { vault, number });
    if (!open.ok && open.failure.kind === "unavailable") return open;
    listed.push(present(number, open));
  }
  return ok(listed);
}

interface ObjectPage {
  readonly objects: readonly { readonly key: string; readonly size: number }[];
  /** The key after which the next page begins; absent on the last one. */
  readonly next: string | undefined;
}

/** Lists the objects of all backups after a key, in the order of their keys. Fails with `unavailable`. */
export function listObjects({ backups }: BackupStore, after: string): Promise<Result<ObjectPage>> {
  return tryBucket(async () => {
    const { objects, next } = await backups.list({ after });
    return { objects: objects.filter(({ key }) => isBackupKey(key)).map(({ key, size }) => ({ key, size })), next };
  });
}

/** Returns an object of the bucket. Fails with `backup_not_found` and `unavailable`. */
export async function loadObject({ backups }: BackupStore, key: string): Promise<Result<OpenObject>> {
  const object = await tryBucket(() => backups.get(key));
  if (!object.ok) return object;
  return object.value ? ok(object.value) : fail("backup_not_found");
}
