import { createCipheriv, createHash } from "node:crypto";
import { sourceFault } from "../../error.ts";

/** The inner stream of KDBX: protected values are XORed with it, one after the other in the order of the document. */
export type Unprotect = (bytes: Uint8Array) => Uint8Array;

const STREAMS: Readonly<Record<number, (key: Uint8Array) => Unprotect>> = { 2: salsa20, 3: chacha20 };

/** Errors: throws a TransferError for an unknown stream. */
export function innerStream(id: number, key: Uint8Array): Unprotect {
  const stream = STREAMS[id];
  if (!stream) throw sourceFault("The file", "protects values with a stream other than ChaCha20 and Salsa20");
  return stream(key);
}

/** ChaCha20 (RFC 8439); key and nonce are parts of the key's SHA-512. */
function chacha20(key: Uint8Array): Unprotect {
  const digest = createHash("sha512").update(key).digest();
  const cipher = createCipheriv("chacha20", digest.subarray(0, 32), Buffer.concat([Buffer.alloc(4), digest.subarray(32, 44)]));
  return (bytes) => cipher.update(bytes);
}

const NONCE = [0x4b0930e8, 0x2a5d2097] as const; // E830094B 97205D2A
const SIGMA = [0x61707865, 0x3320646e, 0x79622d32, 0x6b206574] as const; // "expand 32-byte k"

/** Salsa20 (cr.yp.to/snuffle/spec.pdf); the key is the SHA-256 of the given one. */
function salsa20(key: Uint8Array): Unprotect {
  const digest = createHash("sha256").update(key).digest();
  const k = Array.from({ length: 8 }, (_, n) => digest.readUInt32LE(n * 4));
  let counter = 0;
  let block: Uint8Array = Buffer.alloc(0);
  let used = 0;
  const next = (): number => {
    if (used === block.length) {
      const words = [SIGMA[0], ...k.slice(0, 4), SIGMA[1], ...NONCE, counter++, 0, SIGMA[2], ...k.slice(4), SIGMA[3]];
      [block, used] = [salsaBlock(Uint32Array.from(words)), 0];
    }
    return block[used++]!;
  };
  return (bytes) => bytes.map((byte) => byte ^ next());
}

/** The quarter rounds of a double round: four on columns, four on rows. */
const QUARTERS = [
  [0, 4, 8, 12],
  [5, 9, 13, 1],
  [10, 14, 2, 6],
  [15, 3, 7, 11],
  [0, 1, 2, 3],
  [5, 6, 7, 4],
  [10, 11, 8, 9],
  [15, 12, 13, 14],
] as const;

const rotate = (word: number, by: number): number => (word << by) | (word >>> (32 - by));

function salsaBlock(input: Uint32Array): Uint8Array {
  const x = Uint32Array.from(input);
  for (let round = 0; round < 10; round++) {
    for (const [a, b, c, d] of QUARTERS) {
      x[b]! ^= rotate((x[a]! + x[d]!) | 0, 7);
      x[c]! ^= rotate((x[b]! + x[a]!) | 0, 9);
      x[d]! ^= rotate((x[c]! + x[b]!) | 0, 13);
      x[a]! ^= rotate((x[d]! + x[c]!) | 0, 18);
    }
  }
  const output = Buffer.alloc(64);
  for (const [n, word] of x.entries()) output.writeUInt32LE((word + input[n]!) >>> 0, n * 4);
  return output;
}
