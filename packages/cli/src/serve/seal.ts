import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

/**
 * Seals the parts of the local copy, in memory and on disk:
 *
 *     nonce, 12 bytes ‖ AES-256-GCM ‖ tag, 16 bytes
 *
 * The key is HKDF-SHA-256 (RFC 5869) of the secret of `--key-file`, with the host of the service as the salt: the copy of another deployment
 * cannot be decrypted. The associated data identifies a part, so no part can replace another.
 */

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export interface Sealer {
  readonly seal: (plain: string | Uint8Array, context: string) => Buffer;
  /** Throws when the bytes are damaged, or were sealed under another key, for another host or for another context. */
  readonly open: (sealed: Uint8Array, context: string) => Buffer;
}

export function createSealer(secret: string, host: string): Sealer {
  const key = Buffer.from(hkdfSync("sha256", secret, host, "item-vault local copy 1", 32));
  return {
    seal(plain, context) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from(context));
      const sealed = [nonce, typeof plain === "string" ? cipher.update(plain, "utf8") : cipher.update(plain), cipher.final()];
      return Buffer.concat([...sealed, cipher.getAuthTag()]);
    },
    open(sealed, context) {
      const [nonce, tag] = [sealed.subarray(0, NONCE_BYTES), sealed.subarray(-TAG_BYTES)];
      const decipher = createDecipheriv("aes-256-gcm", key, nonce, { authTagLength: TAG_BYTES });
      decipher.setAAD(Buffer.from(context)).setAuthTag(tag);
      return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
    },
  };
}
