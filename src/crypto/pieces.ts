import { CHUNK_BYTES, chunkCount, SEALED_CHUNK_BYTES } from "../model/chunk-sizes.ts";
import { concat } from "./bytes.ts";
import type { ChunkCipher } from "./chunked.ts";

/**
 * Streams are sealed and decrypted in pieces of 64 chunks, about 1 MiB: few large reads, and one piece in memory at a time. Small pieces cost
 * more than the encryption.
 */

const PIECE_CHUNKS = 64;

/** Bytes of a plain piece. The last piece of a stream is shorter, and may be empty. */
export const PIECE_BYTES = PIECE_CHUNKS * CHUNK_BYTES;

/** The required methods of a BYOB reader. */
export type Reader = Pick<ReadableStreamBYOBReader, "readAtLeast" | "cancel">;

/**
 * Reads a stream of bytes in pieces of exactly `size` bytes; the last is shorter, and may be empty. All pieces use one
 * buffer, because the allocation of new memory costs more than the decryption: a piece is valid until the next one.
 */
export async function* readPieces(reader: Reader, size: number): AsyncGenerator<Uint8Array, void> {
  let buffer: ArrayBufferLike = new ArrayBuffer(size);
  for (let length = size; length === size;) {
    const read: ReadableStreamReadResult<Uint8Array> = await reader.readAtLeast(size, new Uint8Array(buffer));
    const piece: Uint8Array = read.value ?? new Uint8Array();
    buffer = piece.buffer;
    length = piece.length;
    yield piece;
  }
}

/** Seals plain pieces. Yields the header, then pieces of sealed chunks. Returns the return value of the plain pieces. */
export async function* sealPieces<R>(cipher: ChunkCipher, plain: AsyncGenerator<Uint8Array, R>): AsyncGenerator<Uint8Array, R> {
  yield cipher.header;
  return yield* transform(plain, 0, CHUNK_BYTES, plainChunks, cipher.seal);
}

/** Returns the number of chunks in a plain piece. The last chunk of a stream is always shorter than the other chunks, and may be empty. */
const plainChunks = (length: number): number => (length < PIECE_BYTES ? chunkCount(length) : PIECE_CHUNKS);

/** Returns the number of chunks of a sealed piece. */
const sealedChunks = (length: number): number => Math.ceil(length / SEALED_CHUNK_BYTES);

/**
 * Decrypts the sealed chunks of a stream, starting at chunk `first`. Throws if a chunk cannot be decrypted. The caller checks by
 * size that the stream is complete: see chunked.ts.
 */
export function openStream(cipher: ChunkCipher, reader: Reader, first: number): AsyncGenerator<Uint8Array, void> {
  const sealed = readPieces(reader, PIECE_CHUNKS * SEALED_CHUNK_BYTES);
  return transform(sealed, first, SEALED_CHUNK_BYTES, sealedChunks, cipher.open);
}

/** Cuts each piece into chunks and passes each chunk, with its number in the stream, through `convert`. */
async function* transform<R>(
  pieces: AsyncGenerator<Uint8Array, R>,
  first: number,
  size: number,
  count: (length: number) => number,
  convert: (chunk: Uint8Array, index: number) => Promise<Uint8Array>,
): AsyncGenerator<Uint8Array, R> {
  let index = first;
  try {
    for (;;) {
      const next = await pieces.next();
      if (next.done) return next.value;
      const piece = next.value;
      const from = index;
      const chunks = Array.from({ length: count(piece.length) }, (_, n) => piece.subarray(n * size, (n + 1) * size));
      yield concat(...(await Promise.all(chunks.map((chunk, n) => convert(chunk, from + n)))));
      index += chunks.length;
    }
  } finally {
    await pieces.return(undefined as R);
  }
}
