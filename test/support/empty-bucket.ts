/** Deletes all objects of a bucket. */
export async function emptyBucket(bucket: R2Bucket): Promise<void> {
  for (let truncated = true; truncated;) {
    const page = await bucket.list();
    if (page.objects.length > 0) await bucket.delete(page.objects.map(({ key }) => key));
    ({ truncated } = page);
  }
}
