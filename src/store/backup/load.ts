import type { Keyring } from "../../crypto/keyring.ts";
import { type Manifest, type Part, type PartRef, REGISTRY } from "../../model/backup.ts";
import { isId } from "../../model/ids.ts";
import type { Skipped } from "../../model/restore.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import { type OpenManifest, parseManifest } from "./manifest.ts";
import { parsePart, type PartOwner } from "./part.ts";
import { FOLDERS, folderOf, manifestKey, manifestPrefix, numberOfManifest, partKey } from "./object-keys.ts";
import { listAll, pagesOf, tryBucket } from "../buckets/calls.ts";
import type { Bucket, ObjectHead } from "../buckets/bucket.ts";

/** Loads the objects of a backup from the bucket. The manifests and parts that these functions return are authentic. */

/** Errors: `unavailable`. */
const loadObject = (bucket: Bucket, key: string): Promise<Result<Uint8Array | undefined>> =>
  tryBucket(async () => {
    const object = await bucket.get(key);
    return object && new Uint8Array(await object.arrayBuffer());
  });

/** One manifest. Errors: `backup_not_found`, those of `parseManifest`, `unavailable`. */
export async function loadManifest(
  bucket: Bucket,
  keyring: Keyring,
  backup: Pick<Manifest, "vault" | "number">,
): Promise<Result<OpenManifest>> {
  const text = await loadObject(bucket, manifestKey(backup.vault, backup.number));
  if (!text.ok) return text;
  return text.value ? parseManifest(keyring, backup, text.value) : fail("backup_not_found");
}

/** The numbers of the backups of a vault, the oldest first. Errors: `unavailable`. */
export const listBackupNumbers = (bucket: Bucket, vault: string): Promise<Result<number[]>> =>
  tryBucket(async () => numbersOf(await listAll(bucket, manifestPrefix(vault))));

const numbersOf = (objects: readonly ObjectHead[]): number[] => objects.flatMap(({ key }) => numberOfManifest(key) ?? []);

/** The newest manifest of a vault. Errors: `backup_not_found`, those of `loadManifest`. */
export async function loadNewest(bucket: Bucket, keyring: Keyring, vault: string): Promise<Result<OpenManifest>> {
  const numbers = await listBackupNumbers(bucket, vault);
  if (!numbers.ok) return numbers;
  const number = numbers.value.at(-1);
  return number === undefined ? fail("backup_not_found") : loadManifest(bucket, keyring, { vault, number });
}

/** A part that a manifest names. Errors: `backup_damaged`, also when the part is missing; `unavailable`. */
export async function loadPart(bucket: Bucket, owner: PartOwner, ref: PartRef): Promise<Result<Part>> {
  const text = await loadObject(bucket, partKey(owner.vault, ref.sha256));
  if (!text.ok) return text;
  return text.value ? parsePart(owner, ref, text.value) : fail("backup_damaged", `part ${ref.sha256} is missing`);
}

/** The sizes of the parts of a vault in the bucket, by their keys: bytes. Errors: `unavailable`. */
export const loadPartSizes = (bucket: Bucket, vault: string): Promise<Result<ReadonlyMap<string, number>>> =>
  tryBucket(async () => sizesOf(await listAll(bucket, partKey(vault, ""))));

const sizesOf = (objects: readonly ObjectHead[]) => new Map(objects.map(({ key, size }) => [key, size]));

/** What the folder of a vault has. */
export interface Folder {
  /** The numbers of its backups, the oldest first. */
  readonly numbers: readonly number[];
  /** The sizes of its objects by their keys: bytes. `undefined`: there are more objects than `FOLDER_PAGES_MAX` pages have. */
  readonly sizes: ReadonlyMap<string, number> | undefined;
}

/** A page has 1,000 objects and is one call, of which a step has 40 (jobs/kind.ts). */
const FOLDER_PAGES_MAX = 10;

/** What `listBackupNumbers` and `loadPartSizes` tell, by one list. The keys of manifests come before those of parts. Errors: `unavailable`. */
export const listFolder = (bucket: Bucket, vault: string): Promise<Result<Folder>> =>
  tryBucket(async () => {
    const objects: ObjectHead[] = [];
    let next: string | undefined;
    for await (const page of pagesOf(bucket, { prefix: `${folderOf(vault)}/` }, FOLDER_PAGES_MAX)) {
      objects.push(...page.objects);
      ({ next } = page);
    }
    return { numbers: numbersOf(objects), sizes: next === undefined ? sizesOf(objects) : undefined };
  });

/**
 * The parts that the backup before has, by their hashes: a new one shares them. In: the number of the new backup, and the hash of the manifest
 * before, or `null`. Out: none, when the one before is not authentic any more. Errors: `unavailable`.
 */
export async function loadPartsBefore(
  { backups, keyring }: { readonly backups: Bucket; readonly keyring: Keyring },
  { vault, number, predecessor }: Pick<Manifest, "vault" | "number" | "predecessor">,
): Promise<Result<ReadonlyMap<string, PartRef>>> {
  if (predecessor === null) return ok(new Map());
  const before = await loadManifest(backups, keyring, { vault, number: number - 1 });
  if (!before.ok) return before.failure.kind === "unavailable" ? before : ok(new Map());
  return ok(new Map(before.value.manifest.parts.map((part) => [part.sha256, part])));
}

/** Ids of vaults that have a folder in the bucket. */
export interface FolderPage {
  readonly vaults: readonly string[];
  /** The id after which the next page begins; absent on the last one. */
  readonly next: string | undefined;
}

/**
 * A page of the vaults that have a folder in the bucket, in the order of their ids. Other folders are left out. In: the id after which it
 * begins, or an empty text. Errors: `unavailable`.
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
 * The newest backup that opens. In: the numbers of the backups, the oldest first; what opens one. Out: also the newer ones, which do not
 * open, the newest first. Errors: `unavailable`.
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
