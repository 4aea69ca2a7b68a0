/** The sizes of a sealed content, in bytes (docs/format.md): a header, then chunks that each have a tag. */

export const CHUNK_BYTES = 16 * 1024;
export const TAG_BYTES = 16;
export const SEALED_CHUNK_BYTES = CHUNK_BYTES + TAG_BYTES;
export const SALT_BYTES = 24;
export const COMMITMENT_BYTES = 32;
export const HEADER_BYTES = SALT_BYTES + COMMITMENT_BYTES;

/** Returns the sealed size of `size` plain bytes. */
export const sealedFileSize = (size: number): number => HEADER_BYTES + size + TAG_BYTES * chunkCount(size);

/** Returns the number of chunks of `size` plain bytes: a multiple of 16 KiB ends with an empty chunk. */
export const chunkCount = (size: number): number => Math.floor(size / CHUNK_BYTES) + 1;

/** Returns the offset of sealed chunk `index`. */
export const chunkOffset = (index: number): number => HEADER_BYTES + index * SEALED_CHUNK_BYTES;
