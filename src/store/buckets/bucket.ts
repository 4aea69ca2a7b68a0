/**
 * A bucket: objects of bytes under keys, in the order of their keys. This is what the service needs of a store for objects, so that it may be
 * R2 (r2.ts), a service with the API of S3, or a folder (decision 0046). Each method throws when the store fails; what it did then is unknown.
 * Keys are lower-case letters, digits, "-", "_", "." and slashes. No key is the folder of another key.
 * test/support/bucket-rules.ts has the rules, as tests of every implementation.
 */
export interface Bucket {
  /** Out: `undefined` when there is no such object. */
  head(key: string): Promise<ObjectHead | undefined>;
  /** In: bytes that the object has; absent: all of them. Throws also for a range that begins behind the end. Out: as `head`. */
  get(key: string, range?: ObjectRange): Promise<OpenObject | undefined>;
  /** Stores an object in the place of the one before, wholly or not at all: never when the pieces throw, or are not of their length. */
  put(key: string, content: ObjectContent, options?: PutOptions): Promise<PutOutcome>;
  list(options?: ListOptions): Promise<ObjectPage>;
  /** Deletes objects, of which some may not exist. */
  delete(keys: readonly string[]): Promise<void>;
}

export interface ObjectHead {
  readonly key: string;
  /** Bytes. */
  readonly size: number;
  /** Differs from that of any other content under the key (RFC 9110 section 8.8.3); without quotes. */
  readonly etag: string;
  readonly uploaded: Date;
}

/** An object whose bytes, or a range of them, are read once. */
export interface OpenObject extends ObjectHead {
  /** A stream of bytes: readers of the mode `byob` read it too. */
  readonly body: ReadableStream<Uint8Array>;
  arrayBuffer(): Promise<ArrayBuffer>;
  text(): Promise<string>;
}

/** Bytes from an offset on. */
export interface ObjectRange {
  readonly offset: number;
  readonly length: number;
}

export type ObjectContent = Uint8Array | string | PieceContent;

export interface PieceContent {
  readonly pieces: ReadableStream<Uint8Array> | AsyncGenerator<Uint8Array, void>;
  /** Bytes of all pieces. `undefined`: at least one, and no option of `PutOptions` is allowed. */
  readonly length: number | undefined;
}

export interface PutOptions {
  /** Stores only in the place of an object with this ETag; with `undefined` only where there is no object. */
  readonly onlyIf?: { readonly etag: string | undefined };
  /** The SHA-256 of the content, in hexadecimal: another content is not stored. */
  readonly sha256?: string;
}

/** `refused`: the condition does not hold. `damaged`: the content has another SHA-256. Neither stores anything. */
export type PutOutcome = "stored" | "refused" | "damaged";

export interface ListOptions {
  /** What the keys begin with. */
  readonly prefix?: string;
  /** Keys with a slash behind the prefix are listed by their folder: what comes before the slash. */
  readonly folders?: boolean;
  /** The page begins behind this key, or `next` of the page before. */
  readonly after?: string;
  /** The most objects and folders of the page: at most 1,000, which is the default. */
  readonly limit?: number;
}

export interface ObjectPage {
  readonly objects: readonly ObjectHead[];
  /** With the prefix and without the slash at the end; empty without `folders`. */
  readonly folders: readonly string[];
  /** `after` of the next page; absent on the last one. */
  readonly next: string | undefined;
}
