import { COMMITMENT_BYTES, HEADER_BYTES, SALT_BYTES, TAG_BYTES } from "../model/chunk-sizes.ts";
import { fail, ok, type Result } from "../model/result.ts";
import { concat } from "./bytes.ts";

/**
 * C2SP chunked encryption (c2sp.org/chunked-encryption), with HKDF-Expand-SHA-512 and AEAD_AES_256_GCM:
 *
 *     salt 24 | commitment 32 | chunk 0 | chunk 1 | …
 *
 * A chunk is 16 KiB and a tag. The last chunk is always shorter and may be empty, so a truncation is always detected.
 */

const KEY_BYTES = 32;
const NONCE_BYTES = 12;

/** One message: its header, and the functions that seal and decrypt its chunks. */
export interface ChunkCipher {
  readonly header: Uint8Array;
  readonly seal: (chunk: Uint8Array, index: number) => Promise<Uint8Array>;
  /** Decrypts a chunk. Rejects if the chunk does not belong to this message at this index. */
  readonly open: (sealed: Uint8Array, index: number) => Promise<Uint8Array>;
}

/** Creates a cipher for a new message. `inputKey` is 32 random bytes. The message is bound to `context`. */
export async function createCipher(inputKey: Uint8Array, context: Uint8Array): Promise<ChunkCipher> {
  return cipherOf(inputKey, context, crypto.getRandomValues(new Uint8Array(SALT_BYTES)));
}

/** Recreates the cipher of a message from its header. Fails with `integrity` if key, context and commitment do not match. */
export async function recoverCipher(inputKey: Uint8Array, context: Uint8Array, header: Uint8Array): Promise<Result<ChunkCipher>> {
  if (header.length !== HEADER_BYTES) return fail("integrity");
  const cipher = await cipherOf(inputKey, context, header.subarray(0, SALT_BYTES));
  return crypto.subtle.timingSafeEqual(cipher.header, header) ? ok(cipher) : fail("integrity");
}

async function cipherOf(inputKey: Uint8Array, context: Uint8Array, salt: Uint8Array): Promise<ChunkCipher> {
  const info = concat(new TextEncoder().encode("c2sp.org/chunked-encryption@v1+AEAD_AES_256_GCM\0"), salt, context);
  const derived = await expand(inputKey, info, KEY_BYTES + NONCE_BYTES + COMMITMENT_BYTES);
  const key = await crypto.subtle.importKey("raw", derived.subarray(0, KEY_BYTES), "AES-GCM", false, ["encrypt", "decrypt"]);
  const base = derived.subarray(KEY_BYTES, KEY_BYTES + NONCE_BYTES);
  const algorithm = (index: number) => ({ name: "AES-GCM", iv: nonceOf(base, index), tagLength: 8 * TAG_BYTES });
  return {
    header: concat(salt, derived.subarray(KEY_BYTES + NONCE_BYTES)),
    seal: async (chunk, index) => new Uint8Array(await crypto.subtle.encrypt(algorithm(index), key, chunk)),
    open: async (sealed, index) => new Uint8Array(await crypto.subtle.decrypt(algorithm(index), key, sealed)),
  };
}

/** Returns the base nonce XOR the number of the chunk, big-endian: 32 bits hold 64 TiB. */
function nonceOf(base: Uint8Array, index: number): Uint8Array {
  const nonce = base.slice();
  const view = new DataView(nonce.buffer);
  view.setUint32(NONCE_BYTES - 4, view.getUint32(NONCE_BYTES - 4) ^ index);
  return nonce;
}

/** HKDF-Expand with SHA-512 (RFC 5869 section 2.3). Web Crypto has it only together with Extract. */
async function expand(key: Uint8Array, info: Uint8Array, length: number): Promise<Uint8Array> {
  const hmac = await crypto.subtle.importKey("raw", key, { name: "HMAC", hash: "SHA-512" }, false, ["sign"]);
  const out = new Uint8Array(length);
  let block = new Uint8Array();
  for (let filled = 0, counter = 1; filled < length; filled += block.length, counter++) {
    block = new Uint8Array(await crypto.subtle.sign("HMAC", hmac, concat(block, info, Uint8Array.of(counter))));
    out.set(block.subarray(0, length - filled), filled);
  }
  return out;
}
