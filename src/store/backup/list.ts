import type { Manifest } from "../../model/backup.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import { listBackupNumbers, loadManifest } from "./load.ts";
import { isBackupKey } from "../../model/backup.ts";
import type { BackupStore } from "./ports.ts";
import { tryBucket } from "../buckets/calls.ts";
import type { OpenObject } from "../buckets/bucket.ts";

/** Lists backups, and the objects of the bucket for a copy of it. */

/** The most backups of a list. */
const LISTED_BACKUPS_MAX = 100;

/**
 * The newest backups of a vault, or of the registry, the newest first. In: what is kept of each, whose manifest is absent when it is not
 * authentic: a manifest may be large, so one at a time is in memory. Errors: `unavailable`.
 */
export async function loadBackups<T>(
  { backups, keyring }: BackupStore,
  vault: string,
  present: (number: number, manifest: Manifest | undefined) => T,
): Promise<Result<T[]>> {
  const numbers = await listBackupNumbers(backups, vault);
  if (!numbers.ok) return numbers;
  const listed: T[] = [];
  for (const number of numbers.value.slice(-LISTED_BACKUPS_MAX).toReversed()) {
    const open = await loadManifest(backups, keyring, { vault, number });
    if (!open.ok && open.failure.kind === "unavailable") return open;
    listed.push(present(number, open.ok ? open.value.manifest : undefined));
  }
  return ok(listed);
}

export interface ObjectPage {
  readonly objects: readonly { readonly key: string; readonly size: number }[];
  /** Where the next page begins; absent on the last one. */
  readonly next: string | undefined;
}

/** A page of the objects of all backups, in the order of their keys. In: the key after which it begins. Errors: `unavailable`. */
export function listObjects({ backups }: BackupStore, after: string): Promise<Result<ObjectPage>> {
  return tryBucket(async () => {
    const { objects, next } = await backups.list({ after });
    return { objects: objects.filter(({ key }) => isBackupKey(key)).map(({ key, size }) => ({ key, size })), next };
  });
}

/** An object as the bucket has it. Errors: `backup_not_found`, `unavailable`. */
export async function loadObject({ backups }: BackupStore, key: string): Promise<Result<OpenObject>> {
  const object = await tryBucket(() => backups.get(key));
  if (!object.ok) return object;
  return object.value ? ok(object.value) : fail("backup_not_found");
}
