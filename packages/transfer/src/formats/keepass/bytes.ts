/** Reads numbers and parts from bytes, little endian. Each read throws a RangeError when the bytes end too early. */
export class ByteReader {
  readonly bytes: Uint8Array;
  position = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  take(length: number): Uint8Array {
    if (length < 0 || this.position + length > this.bytes.length) throw new RangeError("The bytes end too early");
    this.position += length;
    return this.bytes.subarray(this.position - length, this.position);
  }

  number(length: 1 | 2 | 4 | 8): number {
    return numberOf(this.take(length));
  }

  rest(): Uint8Array {
    return this.take(this.bytes.length - this.position);
  }
}

/** An unsigned number of any length; above 2^53 it is not exact. */
export const numberOf = (bytes: Uint8Array): number => bytes.reduceRight((number, byte) => number * 256 + byte, 0);

/** A number as 8 bytes. */
export function bytesOf64(number: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(number);
  return bytes;
}

export const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
