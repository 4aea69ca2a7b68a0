/** A bucket of which some calls fail: as many as `failures`, from a given one on. Out: also how many calls there were. */
export function failingBucket(
  bucket: R2Bucket,
  from: number,
  failures = Infinity,
): { readonly bucket: R2Bucket; readonly calls: () => number } {
  let calls = 0;
  const failing = new Proxy(bucket, {
    get(target, name: keyof R2Bucket) {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== "function") return method;
      return (...values: unknown[]) => {
        const call = calls++;
        if (call >= from && call < from + failures) return Promise.reject(new Error("killed"));
        return Reflect.apply(method, target, values) as unknown;
      };
    },
  });
  return { bucket: failing, calls: () => calls };
}
