import type { FaultName } from "./faults.ts";

/** R2 as a map in memory. */
export interface Objects {
  /** The keys of the stored objects. */
  readonly keys: () => string[];
  /** R2 for one owner. In: waits, which may throw R2's error before or after a call takes effect. */
  readonly bucketFor: (before: () => Promise<void>, after: () => Promise<void>) => R2Bucket;
}

/** The faults of a call of R2, which says in both cases the same. */
export const R2_FAULTS = ["R2 failed before the call", "R2 failed after the call"] as const satisfies readonly FaultName[];

export const r2Error = (): Error => new Error("We encountered an internal error. Please try again. (10001)");

async function bytesOf(stream: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for (const reader = stream.getReader(); ;) {
    const { done, value } = await reader.read();
    if (done) return Buffer.concat(pieces);
    pieces.push(value);
  }
}

const objectOf = (bytes: Uint8Array, size: number) => ({
  size,
  body: new Response(Uint8Array.from(bytes)).body!,
  arrayBuffer: async () => Uint8Array.from(bytes).buffer,
});

export function createObjects(): Objects {
  const stored = new Map<string, Uint8Array>();

  return {
    keys: () => [...stored.keys()],
    bucketFor(before, after) {
      const bucket = {
        async put(key: string, body: ReadableStream<Uint8Array>) {
          await before();
          stored.set(key, await bytesOf(body));
          await after();
        },
        async get(key: string, { range }: { range?: { offset: number; length: number } } = {}) {
          await before();
          const bytes = stored.get(key);
          await after();
          if (!bytes) return null;
          return objectOf(range ? bytes.subarray(range.offset, range.offset + range.length) : bytes, bytes.length);
        },
        async head(key: string) {
          await before();
          const bytes = stored.get(key);
          return bytes ? { size: bytes.length } : null;
        },
        async delete(keys: string | readonly string[]) {
          await before();
          for (const key of typeof keys === "string" ? [keys] : keys) stored.delete(key);
          await after();
        },
        async list({ prefix }: { prefix: string }) {
          await before();
          const objects = [...stored.keys()].filter((key) => key.startsWith(prefix)).map((key) => ({ key }));
          return { objects, truncated: false };
        },
      };
      return bucket as unknown as R2Bucket;
    },
  };
}
