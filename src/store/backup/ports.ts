import { fail, ok, type Result } from "../../model/result.ts";
import { openStore, type Store } from "../d1/database.ts";
import type { Bucket } from "../buckets/bucket.ts";
import { backupsOf, filesOf } from "../buckets/r2.ts";

/** The stores and buckets that the functions of backups use. */
export interface BackupStore extends Store {
  /** The bucket BACKUPS. */
  readonly backups: Bucket;
  /** The bucket FILES. */
  readonly files: Bucket;
}

/** The bindings of the buckets. */
export type BucketBindings = Parameters<typeof filesOf>[0] & Parameters<typeof backupsOf>[0];

/** Adds the buckets to a store. Errors: `misconfigured`, when wrangler.toml binds no bucket BACKUPS. */
export function withBuckets(store: Store, env: BucketBindings): Result<BackupStore> {
  const backups = backupsOf(env);
  return backups ? ok({ ...store, backups, files: filesOf(env) }) : fail("misconfigured", "no bucket BACKUPS is bound");
}

/** Opens a store as `openStore`, with the buckets. */
export async function openBackupStore(env: Env, now: number): Promise<Result<BackupStore>> {
  const store = await openStore(env, now);
  return store.ok ? withBuckets(store.value, env) : store;
}
