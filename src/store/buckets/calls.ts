import { failedBy } from "../../log.ts";
import { ok, type Result } from "../../model/result.ts";
import type { Bucket, ListOptions, ObjectHead, ObjectPage } from "./bucket.ts";

/** What several callers of buckets do. */

/** Calls of a bucket as a Result. Errors: `unavailable`, when one of them throws. */
export async function tryBucket<T>(call: () => Promise<T>): Promise<Result<T>> {
  try {
    return ok(await call());
  } catch (error) {
    return failedBy("A bucket", error, "unavailable");
  }
}

/** The pages of a list up to its end, or the first `pagesMax` of them: one call each. Throws when the bucket fails. */
export async function* pagesOf(bucket: Bucket, options: ListOptions, pagesMax = Infinity): AsyncGenerator<ObjectPage, void> {
  let { after } = options;
  for (let pages = 0; pages < pagesMax; pages++) {
    const page = await bucket.list({ ...options, ...(after !== undefined && { after }) });
    yield page;
    if (page.next === undefined) return;
    after = page.next;
  }
}

/** All objects under a prefix. Throws when the bucket fails. */
export async function listAll(bucket: Bucket, prefix: string): Promise<ObjectHead[]> {
  const objects: ObjectHead[] = [];
  for await (const page of pagesOf(bucket, { prefix })) objects.push(...page.objects);
  return objects;
}

/** Deletes the objects under a prefix that a test tells. Out: how many they were. Throws when the bucket fails. */
export async function deleteWhere(bucket: Bucket, prefix: string, isOld: (object: ObjectHead) => boolean): Promise<number> {
  let deleted = 0;
  for await (const { objects } of pagesOf(bucket, { prefix })) {
    const keys = objects.filter(isOld).map(({ key }) => key);
    await bucket.delete(keys);
    deleted += keys.length;
  }
  return deleted;
}
