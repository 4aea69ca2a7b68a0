import { createHash } from "node:crypto";

/** Streams of workerd that Node has not. */

/** A stream of bytes. Unlike that of workerd it does not check the length, which the service does too. */
export class FixedLengthStream extends TransformStream<Uint8Array, Uint8Array> {}

/** Computes the hash of what is written into it. */
export class DigestStream extends WritableStream<Uint8Array> {
  readonly digest: Promise<ArrayBuffer>;

  constructor(_algorithm: "SHA-256") {
    const { promise, resolve } = Promise.withResolvers<ArrayBuffer>();
    const hash = createHash("sha256");
    super({ write: (bytes) => void hash.update(bytes), close: () => resolve(Uint8Array.from(hash.digest()).buffer) });
    this.digest = promise;
  }
}

Object.assign(ReadableStreamBYOBReader.prototype, {
  readAtLeast(this: ReadableStreamBYOBReader, min: number, view: Uint8Array) {
    return (this.read as (view: Uint8Array, options: { min: number }) => Promise<unknown>)(view, { min });
  },
});
