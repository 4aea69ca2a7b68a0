import { failedBy } from "../../log.ts";
import type { FailureKind } from "../../model/failure.ts";
import { ok, type Result } from "../../model/result.ts";
import { classify } from "../d1/errors.ts";
import type { Bucket, ListOptions, ObjectHead, ObjectPage } from "./bucket.ts";

/** Calls of buckets with several callers. */

/**
 * Calls a bucket. Fails with `unavailable` if the call throws, or with `full` if the disk of a self-hosted server has no space. A job repeats a step that is
 * `unavailable`, so only a request of a client names another failure.
 */
export async function tryBucket<T>(call: () => Promise<T>, full: FailureKind = "unavailable"): Promise<Result<T>> {
  try {
    return ok(await call());
  } catch (error) {
    return failedBy("A bucket", error, classify(error) === "full" ? full : "unavailable");
  }
}

/** Yields the pages of a list, one call each, at most `pagesMax`. Throws if the bucket fails. */
export async function* pagesOf(bucket: Bucket, options: ListOptions, pagesMax = Infinity): AsyncGenerator<ObjectPage, void> {
  let { after } = options;
  for (let pages = 0; pages < pagesMax; pages++) {
    const page = await bucket.list({ ...options, ...(after !== undefined && { after }) });
    yield page;
    if (page.next === undefined) return;
    after = page.next;
  }
}

/** Returns all objects under a prefix. Throws if the bucket fails. */
export async function listAll(bucket: Bucket, prefix: string): Promise<ObjectHead[]> {
  const objects: ObjectHead[] = [];
  for await (const page of pagesOf(bucket, { prefix })) objects.push(...page.objects);
  return objects;
}

/** Deletes all objects under a prefix. Throws if the bucket fails. */
export async function deleteAll(bucket: Bucket, prefix: string): Promise<void> {
  for await (const { objects } of pagesOf(bucket, { prefix })) await bucket.delete(objects.map(({ key }) => key));
}
