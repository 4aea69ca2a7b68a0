import { concat } from "../../src/crypto/bytes.ts";
import { createCipher, recoverCipher } from "../../src/crypto/chunked.ts";
import { PIECE_BYTES, sealPieces } from "../../src/crypto/pieces.ts";
import { CHUNK_BYTES, HEADER_BYTES, SEALED_CHUNK_BYTES } from "../../src/model/chunk-sizes.ts";
import { contextOf } from "../../src/store/contents/object-keys.ts";
import { bytesFrom, type Example, FILE, form, GENERATION, ITEM, VAULT, valueOf } from "./example.ts";

/** Contents of Files. */

interface Content extends Example {
  readonly key: string;
  readonly vault: string;
  readonly item: string;
  readonly file: string;
  readonly generation: string;
  readonly sealed: string;
}

const sha256Of = async (bytes: Uint8Array): Promise<string> =>
  new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();

async function* piecesOf(plain: Uint8Array): AsyncGenerator<Uint8Array, void> {
  for (let at = 0; at <= plain.length; at += PIECE_BYTES) yield plain.subarray(at, at + PIECE_BYTES);
}

async function contentExample(plain: Uint8Array): Promise<Content> {
  const address = { vault: VAULT, item: ITEM, file: FILE, generation: GENERATION };
  const cipher = await createCipher(bytesFrom(96), contextOf(address));
  const sealed = concat(...(await Array.fromAsync(sealPieces(cipher, piecesOf(plain)))));
  const opens = { size: plain.length, sha256: await sha256Of(plain) };
  return { key: bytesFrom(96).toBase64(), ...address, sealed: sealed.toBase64(), opens };
}

export const CONTENT = form<Content>({
  examples: {
    "no bytes": () => contentExample(new Uint8Array()),
    "three bytes": () => contentExample(new TextEncoder().encode("abc")),
    "a chunk and an empty one": () => contentExample(bytesFrom(0, CHUNK_BYTES)),
    "a chunk and three bytes": () => contentExample(bytesFrom(0, CHUNK_BYTES + 3)),
  },
  async read({ key, sealed, ...address }) {
    const bytes = Uint8Array.fromBase64(sealed);
    const cipher = valueOf(await recoverCipher(Uint8Array.fromBase64(key), contextOf(address), bytes.slice(0, HEADER_BYTES)));
    const chunks: Uint8Array[] = [];
    for (let at = HEADER_BYTES; at < bytes.length; at += SEALED_CHUNK_BYTES)
      chunks.push(await cipher.open(bytes.slice(at, at + SEALED_CHUNK_BYTES), chunks.length));
    const plain = concat(...chunks);
    return { size: plain.length, sha256: await sha256Of(plain) };
  },
});
