import { createDecipheriv, createHash, createHmac, timingSafeEqual } from "node:crypto";
import { gunzipSync } from "node:zlib";
import { sourceFault, TransferError } from "../../error.ts";
import { ByteReader, bytesOf64 } from "./bytes.ts";
import type { Header } from "./header.ts";

/** Opens the body of a KDBX file: authenticates it in blocks, decrypts and decompresses it. */

const wrongKey = () => new TransferError("The password or the key file is wrong", "Check both: --key-file names the key file.");

const damaged = () => sourceFault("The file", "is damaged or cut off: a checksum of its blocks is wrong");

const hash = (algorithm: "sha256" | "sha512", ...parts: readonly Uint8Array[]): Buffer => {
  const hashing = createHash(algorithm);
  for (const part of parts) hashing.update(part);
  return hashing.digest();
};

/** Returns true if two digests are equal. */
const same = (one: Uint8Array, other: Uint8Array): boolean => one.length === other.length && timingSafeEqual(one, other);

/** Returns the decompressed body. Throws a TransferError for a wrong key and for damage. */
export function openPayload(header: Header, transformed: Uint8Array): Uint8Array {
  const plain = header.version === 4 ? openVersion4(header, transformed) : openVersion3(header, transformed);
  return header.compressed ? decompress(plain) : plain;
}

function openVersion4(header: Header, transformed: Uint8Array): Uint8Array {
  const reader = new ByteReader(header.body);
  if (!same(hash("sha256", header.bytes), reader.take(32)))
    throw sourceFault("The file", "is damaged: the hash of its header is wrong");
  const macKey = hash("sha512", header.masterSeed, transformed, Uint8Array.of(1));
  const macOf = (index: bigint, ...parts: readonly Uint8Array[]) => {
    const mac = createHmac("sha256", hash("sha512", bytesOf64(index), macKey));
    for (const part of parts) mac.update(part);
    return mac.digest();
  };
  if (!same(macOf(0xffff_ffff_ffff_ffffn, header.bytes), reader.take(32))) throw wrongKey();
  const blocks: Uint8Array[] = [];
  for (let index = 0n; ; index++) {
    const mac = reader.take(32);
    const length = reader.take(4);
    const block = reader.take(new ByteReader(length).number(4));
    if (!same(macOf(index, bytesOf64(index), length, block), mac)) throw damaged();
    if (block.length === 0) break;
    blocks.push(block);
  }
  return decrypt(header, transformed, Buffer.concat(blocks), damaged);
}

function openVersion3(header: Header, transformed: Uint8Array): Uint8Array {
  const reader = new ByteReader(decrypt(header, transformed, header.body, wrongKey));
  if (header.startBytes.length !== 32 || !same(reader.take(32), header.startBytes)) throw wrongKey();
  const blocks: Uint8Array[] = [];
  for (;;) {
    reader.take(4); // the index
    const digest = reader.take(32);
    const block = reader.take(reader.number(4));
    if (block.length === 0) return Buffer.concat(blocks);
    if (!same(hash("sha256", block), digest)) throw damaged();
    blocks.push(block);
  }
}

const CIPHERS: Readonly<Record<string, { name: string; iv: number; prefix: number }>> = {
  "31c1f2e6bf714350be5805216afc5aff": { name: "aes-256-cbc", iv: 16, prefix: 0 },
  // OpenSSL's form of ChaCha20 takes the counter of its first block before the nonce (RFC 8439).
  d6038a2b8b6f4cb5a524339a31dbb59a: { name: "chacha20", iv: 12, prefix: 4 },
};

function decrypt(
  { cipher, masterSeed, iv }: Header,
  transformed: Uint8Array,
  bytes: Uint8Array,
  failure: () => Error,
): Uint8Array {
  const known = CIPHERS[cipher];
  if (!known)
    throw sourceFault("The file", "uses a cipher other than AES-256 and ChaCha20. Change it in the settings of the database");
  const { name, iv: length, prefix } = known;
  if (iv.length !== length) throw sourceFault("The file", "is damaged: its header is incomplete");
  const decipher = createDecipheriv(name, hash("sha256", masterSeed, transformed), Buffer.concat([Buffer.alloc(prefix), iv]));
  try {
    return Buffer.concat([decipher.update(bytes), decipher.final()]);
  } catch {
    throw failure();
  }
}

/** Limits of unpacked content, in bytes: always permitted, maximum compression ratio, and largest. */
const [SMALL, RATIO, LARGEST] = [100 * 1024 * 1024, 100, 1024 ** 3];

/** Returns the permitted unpacked size of a number of bytes. */
export const unpackedLimit = (length: number): number => Math.min(LARGEST, Math.max(SMALL, length * RATIO));

function decompress(bytes: Uint8Array): Uint8Array {
  const maxOutputLength = unpackedLimit(bytes.length);
  try {
    return gunzipSync(bytes, { maxOutputLength });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE")
      throw sourceFault("The file", "expands to an unreasonable size and was rejected");
    throw sourceFault("The file", "is damaged: its compressed content is not whole");
  }
}
