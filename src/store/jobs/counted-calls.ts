import type { Bucket } from "../buckets/bucket.ts";
import type { Store } from "../d1/database.ts";

/** Counts the calls of D1 and of buckets that a step of a job makes: on the free plan an invocation may make 50 (jobs/kind.ts). */

/** The storage of a step with buckets (backup/load.ts). */
interface Storage extends Store {
  readonly files: Bucket;
  readonly backups: Bucket;
}

/** Returns the same storage, and a function that returns the number of its calls so far. */
export function countCalls<S extends Storage>(storage: S): { readonly storage: S; readonly calls: () => number } {
  let calls = 0;
  const counted = <A extends unknown[], T>(call: (...args: A) => Promise<T>) => {
    return (...args: A): Promise<T> => {
      calls++;
      return call(...args);
    };
  };
  const countBucket = (bucket: Bucket): Bucket => ({
    head: counted((...args) => bucket.head(...args)),
    get: counted((...args) => bucket.get(...args)),
    put: counted((...args) => bucket.put(...args)),
    list: counted((...args) => bucket.list(...args)),
    delete: counted((...args) => bucket.delete(...args)),
  });
  const { db } = storage;
  // Every call of D1 is one `batch` (d1/database.ts).
  const batch = counted((statements: D1PreparedStatement[]) => db.batch(statements));
  const countedDb: Pick<D1Database, "prepare" | "batch"> = {
    prepare: (sql) => db.prepare(sql),
    batch: batch as D1Database["batch"],
  };
  const countedStorage = {
    ...storage,
    db: countedDb as D1Database,
    files: countBucket(storage.files),
    backups: countBucket(storage.backups),
  };
  return { storage: countedStorage, calls: () => calls };
}
