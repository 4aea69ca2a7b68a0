import { concat } from "./bytes.ts";
import { CHUNK, type ChunkCipher, SEALED_CHUNK } from "./chunked.ts";

/**
 * Streams sealed and opened in pieces of 64 chunks, about 1 MiB: few large reads, and one piece in memory at a time.
 * Small pieces cost more than the encryption does.
 */

const CHUNKS = 64;

/** What is needed of a BYOB reader. */
export type Reader = Pick<ReadableStreamBYOBReader, "readAtLeast" | "cancel">;

/**
 * Reads a stream of bytes in pieces of exactly `size`; the last is shorter, at a multiple of `size` empty.
 * All lie in one buffer, the next where the one before it lay: fresh memory costs more than the decryption.
 */
async function* pieces(reader: Reader, size: number): AsyncGenerator<Uint8Array> {
  let buffer: ArrayBufferLike = new ArrayBuffer(size);
  for (let length = size; length === size;) {
    const read: ReadableStreamReadResult<Uint8Array> = await reader.readAtLeast(size, new Uint8Array(buffer));
    const piece: Uint8Array = read.value ?? new Uint8Array();
    buffer = piece.buffer;
    length = piece.length;
    yield piece;
  }
}

/**
 * Seals a stream: the header, then pieces of sealed chunks.
 * In: `see`, shown every plain piece; what it throws ends the stream.
 */
export async function* sealStream(
  cipher: ChunkCipher,
  reader: Reader,
  see: (plain: Uint8Array, last: boolean) => Promise<void>,
): AsyncGenerator<Uint8Array> {
  yield cipher.header;
  let index = 0;
  for await (const plain of pieces(reader, CHUNKS * CHUNK)) {
    const last = plain.length < CHUNKS * CHUNK;
    await see(plain, last);
    // The last chunk is always shorter than the others, if need be empty.
    const chunks = slices(plain, CHUNK, last ? Math.floor(plain.length / CHUNK) + 1 : CHUNKS);
    const first = index;
    yield concat(...(await Promise.all(chunks.map((chunk, n) => cipher.seal(chunk, first + n)))));
    index += chunks.length;
  }
}

/**
 * Opens the sealed chunks of a stream, from chunk `first` on. Throws when one does not open.
 * That the stream ends where it should is the caller's to know, from the sizes: see chunked.ts.
 */
export async function* openStream(cipher: ChunkCipher, reader: Reader, first: number): AsyncGenerator<Uint8Array> {
  let index = first;
  for await (const sealed of pieces(reader, CHUNKS * SEALED_CHUNK)) {
    const chunks = slices(sealed, SEALED_CHUNK, Math.ceil(sealed.length / SEALED_CHUNK));
    const from = index;
    yield concat(...(await Promise.all(chunks.map((chunk, n) => cipher.open(chunk, from + n)))));
    index += chunks.length;
  }
}

const slices = (piece: Uint8Array, size: number, count: number): Uint8Array[] =>
  Array.from({ length: count }, (_, index) => piece.subarray(index * size, (index + 1) * size));
