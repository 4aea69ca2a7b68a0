import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { concat } from "../../src/crypto/bytes.ts";
import { type ChunkCipher, createCipher, recoverCipher } from "../../src/crypto/chunked.ts";
import { CHUNK_BYTES, chunkCount, chunkOffset, HEADER_BYTES, sealedFileSize } from "../../src/model/chunk-sizes.ts";

/**
 * Compares the C2SP chunked encryption of src/crypto/chunked.ts with a reference implementation of the specification
 * (c2sp.org/chunked-encryption). test/files/object-tampering.test.ts changes sealed contents.
 */

const KEY = Uint8Array.from({ length: 32 }, (_, at) => at);
const CONTEXT = new TextEncoder().encode("vault, item, file, generation");

/** Key, base nonce and commitment: HKDF-Expand over SHA-512. Its 76 bytes are two blocks, T(1) and a part of T(2). */
async function derive(inputKey: Uint8Array, salt: Uint8Array, context: Uint8Array) {
  const info = [...new TextEncoder().encode("c2sp.org/chunked-encryption@v1+AEAD_AES_256_GCM"), 0, ...salt, ...context];
  const prk = await crypto.subtle.importKey("raw", inputKey, { name: "HMAC", hash: "SHA-512" }, false, ["sign"]);
  const hmac = async (bytes: number[]) => [...new Uint8Array(await crypto.subtle.sign("HMAC", prk, Uint8Array.from(bytes)))];
  const t1 = await hmac([...info, 1]);
  const t2 = await hmac([...t1, ...info, 2]);
  const okm = Uint8Array.from([...t1, ...t2]);
  const key = await crypto.subtle.importKey("raw", okm.slice(0, 32), "AES-GCM", false, ["encrypt", "decrypt"]);
  return { key, baseNonce: okm.slice(32, 44), commitment: okm.slice(44, 76) };
}

/** The chunk's number as a big-endian integer as wide as the base nonce, XORed with it. */
function nonceOf(baseNonce: Uint8Array, index: number): Uint8Array {
  const number = BigInt(`0x${baseNonce.toHex()}`) ^ BigInt(index);
  return Uint8Array.fromHex(number.toString(16).padStart(24, "0"));
}

/** Every chunk of a message; the last is always shorter than 16 KiB. */
function split(message: Uint8Array): Uint8Array[] {
  const chunks: Uint8Array[] = [];
  for (let at = 0; at <= message.length; at += 16_384) chunks.push(message.slice(at, at + 16_384));
  return chunks;
}

async function sealReference(
  inputKey: Uint8Array,
  context: Uint8Array,
  salt: Uint8Array,
  message: Uint8Array,
): Promise<Uint8Array> {
  const { key, baseNonce, commitment } = await derive(inputKey, salt, context);
  const out = [salt, commitment];
  for (const [index, chunk] of split(message).entries()) {
    const iv = nonceOf(baseNonce, index);
    out.push(new Uint8Array(await crypto.subtle.encrypt({ name: "AES-GCM", iv }, key, chunk)));
  }
  return concat(...out);
}

async function openReference(inputKey: Uint8Array, context: Uint8Array, sealed: Uint8Array): Promise<Uint8Array> {
  const { key, baseNonce, commitment } = await derive(inputKey, sealed.slice(0, 24), context);
  expect(sealed.slice(24, 56)).toEqual(commitment);
  const out: Uint8Array[] = [];
  for (let at = 56; at < sealed.length; at += 16_400) {
    const iv = nonceOf(baseNonce, out.length);
    out.push(new Uint8Array(await crypto.subtle.decrypt({ name: "AES-GCM", iv }, key, sealed.slice(at, at + 16_400))));
  }
  expect(out.at(-1)!.length).toBeLessThan(16_384);
  return concat(...out);
}

const sealWithService = async (cipher: ChunkCipher, message: Uint8Array): Promise<Uint8Array> =>
  concat(cipher.header, ...(await Promise.all(split(message).map((chunk, index) => cipher.seal(chunk, index)))));

const message = fc
  .tuple(
    fc.constantFrom(0, 1, 100, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 2 * CHUNK_BYTES, 3 * CHUNK_BYTES + 7),
    fc.nat(255),
  )
  .map(([size, first]) => Uint8Array.from({ length: size }, (_, at) => first + at * 31));
const key = fc.uint8Array({ minLength: 32, maxLength: 32 });
const salt = fc.uint8Array({ minLength: 24, maxLength: 24 });
const context = fc.uint8Array({ maxLength: 80 });
const runs = { numRuns: 50 };

describe("the sizes of a sealed content", () => {
  // size, chunks, sealed size
  it.each([
    [0, 1, 56 + 16],
    [1, 1, 56 + 1 + 16],
    [1024, 1, 56 + 1024 + 16],
    [16_383, 1, 56 + 16_399],
    [16_384, 2, 56 + 16_400 + 16],
    [16_385, 2, 56 + 16_400 + 17],
    [20 * 1024, 2, 56 + 16_400 + 4096 + 16],
    [32_768, 3, 56 + 2 * 16_400 + 16],
    [1_048_576, 65, 56 + 64 * 16_400 + 16],
    [100_000_000, 6104, 100_000_000 + 56 + 6104 * 16],
  ])("a content of %i bytes has %i chunks and is %i bytes long when sealed", (size, chunks, sealed) => {
    expect([chunkCount(size), sealedFileSize(size)]).toEqual([chunks, sealed]);
  });

  it.each([
    [0, 56],
    [1, 16_456],
    [2, 32_856],
    [6103, 100_089_256],
  ])("chunk %i begins at byte %i", (index, offset) => {
    expect(chunkOffset(index)).toBe(offset);
  });

  it("the sealed size grows with the size of the content, and the last chunk is never full", () => {
    fc.assert(
      fc.property(fc.nat(200_000_000), (size) => {
        const last = sealedFileSize(size) - chunkOffset(chunkCount(size) - 1);
        expect(last).toBeGreaterThanOrEqual(16);
        expect(last).toBeLessThan(16_400);
        expect(sealedFileSize(size + 1)).toBeGreaterThan(sealedFileSize(size));
      }),
    );
  });
});

describe("the format of a sealed content", () => {
  it("the reference implementation opens a message that the service sealed", async () => {
    await fc.assert(
      fc.asyncProperty(key, context, message, async (k, c, m) => {
        const sealed = await sealWithService(await createCipher(k, c), m);
        expect(sealed.length).toBe(sealedFileSize(m.length));
        expect((await openReference(k, c, sealed)).toHex()).toBe(m.toHex());
      }),
      runs,
    );
  });

  it("the service opens a message that the reference implementation sealed", async () => {
    await fc.assert(
      fc.asyncProperty(key, context, salt, message, async (k, c, s, m) => {
        const sealed = await sealReference(k, c, s, m);
        const cipher = await recoverCipher(k, c, sealed.slice(0, HEADER_BYTES));
        if (!cipher.ok) throw new Error("the header was refused");
        const chunks = Array.from({ length: chunkCount(m.length) }, (_, index) =>
          cipher.value.open(sealed.slice(chunkOffset(index), chunkOffset(index + 1)), index),
        );
        expect(concat(...(await Promise.all(chunks))).toHex()).toBe(m.toHex());
      }),
      runs,
    );
  });

  it("the header is a salt of 24 bytes, which differs each time, and a commitment of 32 bytes", async () => {
    const headers = await Promise.all(Array.from({ length: 50 }, async () => (await createCipher(KEY, CONTEXT)).header));
    expect(new Set(headers.map((header) => header.slice(0, 24).toHex())).size).toBe(50);
    for (const header of headers) {
      const { commitment } = await derive(KEY, header.slice(0, 24), CONTEXT);
      expect([header.length, header.slice(24).toHex()]).toEqual([56, commitment.toHex()]);
    }
  });

  it.each([0, 1, 255, 256, 65_535, 65_536, 2 ** 24 + 3, 2 ** 31, 2 ** 32 - 1])(
    "the nonce of chunk %i is the base nonce XOR the index of the chunk",
    async (index) => {
      const cipher = await createCipher(KEY, CONTEXT);
      const derived = await derive(KEY, cipher.header.slice(0, 24), CONTEXT);
      const iv = nonceOf(derived.baseNonce, index);
      const sealed = await crypto.subtle.encrypt({ name: "AES-GCM", iv }, derived.key, CONTEXT);
      expect((await cipher.seal(CONTEXT, index)).toHex()).toBe(new Uint8Array(sealed).toHex());
      expect(await cipher.open(new Uint8Array(sealed), index)).toEqual(CONTEXT);
    },
  );
});
