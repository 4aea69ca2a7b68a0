import { createHash } from "node:crypto";

/** Streams of workerd that Node lacks. */

/** A stream with an exact number of bytes. Any other number is an error. */
export class FixedLengthStream extends TransformStream<Uint8Array, Uint8Array> {
  constructor(length: number) {
    let left = length;
    super({
      transform(bytes, controller) {
        left -= bytes.length;
        if (left < 0) throw new TypeError("FixedLengthStream: too many bytes");
        controller.enqueue(bytes);
      },
      flush() {
        if (left > 0) throw new TypeError("FixedLengthStream: too few bytes");
      },
    });
  }
}

export class IdentityTransformStream extends TransformStream<Uint8Array, Uint8Array> {}

/** Computes the hash of the written data. */
export class DigestStream extends WritableStream<Uint8Array> {
  readonly digest: Promise<ArrayBuffer>;

  constructor(_algorithm: "SHA-256") {
    const { promise, resolve } = Promise.withResolvers<ArrayBuffer>();
    const hash = createHash("sha256");
    super({ write: (bytes) => void hash.update(bytes), close: () => resolve(Uint8Array.from(hash.digest()).buffer) });
    this.digest = promise;
  }
}

/** Reads until the view holds `min` bytes, or the stream ends. Returns the bytes that were read, in the buffer of the view. */
async function readAtLeast(this: ReadableStreamBYOBReader, min: number, view: Uint8Array) {
  let { buffer } = view;
  let length = 0;
  while (length < min) {
    const { done, value } = await this.read(new Uint8Array(buffer, length));
    buffer = value?.buffer ?? buffer;
    length += value?.length ?? 0;
    if (done) break;
  }
  return { done: length === 0, value: new Uint8Array(buffer, 0, length) };
}

export function addReaderMethods(): void {
  Object.assign(ReadableStreamBYOBReader.prototype, { readAtLeast });
}
