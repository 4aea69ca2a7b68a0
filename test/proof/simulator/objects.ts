import { createHash } from "node:crypto";
import type { FaultName } from "./faults.ts";

/** R2 as a map in memory. bucket.test.ts proves that it does what R2 does, as far as the service uses it. */
export interface Objects {
  /** The keys of the stored objects. */
  readonly keys: () => string[];
  /** R2 for one owner. In: waits, which may throw R2's error before or after a call takes effect. */
  readonly bucketFor: (before: () => Promise<void>, after: () => Promise<void>) => R2Bucket;
}

/** The faults of a call of R2, which says in both cases the same. */
export const R2_FAULTS = ["R2 failed before the call", "R2 failed after the call"] as const satisfies readonly FaultName[];

/** Those of a call of the bucket of backups. They are rarer, because a step of a backup makes many calls. */
export const BACKUP_FAULTS = [
  "BACKUPS failed before the call",
  "BACKUPS failed after the call",
] as const satisfies readonly FaultName[];

export const r2Error = (): Error => new Error("We encountered an internal error. Please try again. (10001)");

interface Stored {
  readonly bytes: Uint8Array;
  readonly etag: string;
  readonly uploaded: Date;
}

type Content = ReadableStream<Uint8Array> | Uint8Array | string;

interface PutOptions {
  readonly onlyIf?: { readonly etagMatches?: string; readonly etagDoesNotMatch?: string };
  readonly sha256?: string;
}

interface ListOptions {
  readonly prefix?: string;
  readonly delimiter?: string;
  readonly startAfter?: string;
  readonly limit?: number;
}

const hashOf = (algorithm: "md5" | "sha256", bytes: Uint8Array): string => createHash(algorithm).update(bytes).digest("hex");

async function bytesOf(content: Content): Promise<Uint8Array> {
  if (typeof content === "string") return new TextEncoder().encode(content);
  if (content instanceof Uint8Array) return Uint8Array.from(content);
  const pieces: Uint8Array[] = [];
  for (const reader = content.getReader(); ;) {
    const { done, value } = await reader.read();
    if (done) return Buffer.concat(pieces);
    pieces.push(value);
  }
}

const headOf = (key: string, { bytes, etag, uploaded }: Stored) => ({ key, size: bytes.length, etag, uploaded });

const objectOf = (key: string, stored: Stored, bytes: Uint8Array) => ({
  ...headOf(key, stored),
  body: new Response(Uint8Array.from(bytes)).body!,
  arrayBuffer: async () => Uint8Array.from(bytes).buffer,
  text: async () => new TextDecoder().decode(bytes),
});

/** Only the keys that the service uses: they are ASCII, so JavaScript sorts them as R2 does. */
function listOf(stored: ReadonlyMap<string, Stored>, { prefix = "", delimiter, startAfter = "", limit = 1_000 }: ListOptions) {
  const folderOf = (key: string): string | undefined => {
    const end = delimiter === undefined ? -1 : key.indexOf(delimiter, prefix.length);
    return end < 0 ? undefined : key.slice(0, end + 1);
  };
  const keys = [...stored.keys()].filter((key) => key.startsWith(prefix) && key > startAfter).toSorted();
  const names = [...new Set(keys.map((key) => folderOf(key) ?? key))];
  const page = names.slice(0, limit);
  return {
    objects: page.filter((name) => stored.has(name) && folderOf(name) === undefined).map((key) => headOf(key, stored.get(key)!)),
    delimitedPrefixes: page.filter((name) => folderOf(name) !== undefined),
    truncated: page.length < names.length,
  };
}

export function createObjects(): Objects {
  const objects = new Map<string, Stored>();

  const store = (key: string, bytes: Uint8Array) => {
    const stored = { bytes, etag: hashOf("md5", bytes), uploaded: new Date(Date.now()) };
    objects.set(key, stored);
    return headOf(key, stored);
  };

  const isRefused = (key: string, { onlyIf: { etagMatches, etagDoesNotMatch } = {} }: PutOptions): boolean =>
    (etagMatches !== undefined && objects.get(key)?.etag !== etagMatches) || (etagDoesNotMatch === "*" && objects.has(key));

  return {
    keys: () => [...objects.keys()],
    bucketFor(before, after) {
      const bucket = {
        async put(key: string, content: Content, options: PutOptions = {}) {
          await before();
          if (isRefused(key, options)) return null;
          const bytes = await bytesOf(content);
          if (options.sha256 !== undefined && options.sha256 !== hashOf("sha256", bytes))
            throw new Error("put: The SHA-256 checksum you specified did not match what we received. (10037)");
          const stored = isRefused(key, options) ? null : store(key, bytes);
          await after();
          return stored;
        },
        async get(key: string, { range }: { range?: { offset: number; length: number } } = {}) {
          await before();
          const found = objects.get(key);
          await after();
          if (!found) return null;
          const { bytes } = found;
          if (range && range.offset >= bytes.length) throw new Error("get: The requested range is not satisfiable (10039)");
          return objectOf(key, found, range ? bytes.subarray(range.offset, range.offset + range.length) : bytes);
        },
        async head(key: string) {
          await before();
          const found = objects.get(key);
          return found ? headOf(key, found) : null;
        },
        async delete(keys: string | readonly string[]) {
          await before();
          const listed = typeof keys === "string" ? [keys] : keys;
          if (listed.length > 1_000) throw new Error("delete: There can be at most 1,000 keys");
          for (const key of listed) objects.delete(key);
          await after();
        },
        async list(options: ListOptions = {}) {
          await before();
          return listOf(objects, options);
        },
        async createMultipartUpload(key: string) {
          await before();
          const parts = new Map<number, Uint8Array>();
          return {
            async uploadPart(partNumber: number, content: Uint8Array) {
              await before();
              parts.set(partNumber, Uint8Array.from(content));
              return { partNumber, etag: "" };
            },
            async complete(uploaded: readonly { readonly partNumber: number }[]) {
              await before();
              const stored = store(key, Buffer.concat(uploaded.map(({ partNumber }) => parts.get(partNumber)!)));
              await after();
              return stored;
            },
            abort: async () => parts.clear(),
          };
        },
      };
      return bucket as unknown as R2Bucket;
    },
  };
}
