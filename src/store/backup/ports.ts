import { logFailure } from "../../log.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import { openStore, type Store } from "../d1/database.ts";

/** What the functions of backups work with. */
export interface BackupStore extends Store {
  /** The bucket BACKUPS. */
  readonly backups: R2Bucket;
  /** The bucket FILES. */
  readonly files: R2Bucket;
}

type Buckets = Pick<Env, "FILES"> & { readonly BACKUPS?: R2Bucket };

/** Adds the buckets to a store. Errors: `misconfigured`, when wrangler.toml binds no bucket BACKUPS. */
export function withBuckets(store: Store, { BACKUPS, FILES }: Buckets): Result<BackupStore> {
  return BACKUPS ? ok({ ...store, backups: BACKUPS, files: FILES }) : fail("misconfigured", "no bucket BACKUPS is bound");
}

/** As `openStore`, with the buckets. */
export async function openBackupStore(env: Env, now: number): Promise<Result<BackupStore>> {
  const store = await openStore(env, now);
  return store.ok ? withBuckets(store.value, env) : store;
}

/** A call of R2. Errors: `unavailable`, when it throws. */
export async function tryBucket<T>(call: () => Promise<T>): Promise<Result<T>> {
  try {
    return ok(await call());
  } catch (error) {
    logFailure("R2", error);
    return fail("unavailable");
  }
}
