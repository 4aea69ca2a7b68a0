/**
 * A bucket: objects of bytes under keys, in the order of their keys. This interface is everything that the service needs of an
 * object store. It can be R2 (r2.ts), a service with the API of S3, or a folder (docs/design/files.md). Each method throws if the store
 * fails; its effect is then unknown. Keys consist of lower-case letters, digits, "-", "_", "." and slashes. No key is the folder
 * of another key. test/support/bucket-rules.ts tests these rules for every implementation.
 */
export interface Bucket {
  /** Returns undefined if there is no such object. */
  head(key: string): Promise<ObjectHead | undefined>;
  /** Opens an object, or a range of its bytes. Throws also for a range that begins past the end. Returns undefined as `head` does. */
  get(key: string, range?: ObjectRange): Promise<OpenObject | undefined>;
  /** Stores an object in place of an earlier one, wholly or not at all. Nothing is stored if the pieces throw or have another length. */
  put(key: string, content: ObjectContent, options?: PutOptions): Promise<PutOutcome>;
  list(options?: ListOptions): Promise<ObjectPage>;
  /** Deletes objects. Some of them may not exist. */
  delete(keys: readonly string[]): Promise<void>;
}

export interface ObjectHead {
  readonly key: string;
  /** Bytes. */
  readonly size: number;
  /** Identifies the content under the key (RFC 9110 section 8.8.3), without quotes. */
  readonly etag: string;
  readonly uploaded: Date;
}

/** An object whose bytes, or a range of them, can be read once. */
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
  /** The beginning of the keys. */
  readonly prefix?: string;
  /** True if keys with a slash after the prefix are listed by folder: their text up to the slash. */
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
