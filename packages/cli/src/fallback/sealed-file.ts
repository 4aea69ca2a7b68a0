import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

/**
 * The file of `--fallback`: values sealed under a key that is derived from the token, so only a token holder can decrypt it.
 *
 *     magic, 8 bytes ‖ salt, 16 bytes ‖ nonce, 12 bytes ‖ AES-256-GCM(JSON) ‖ tag, 16 bytes
 *
 * The key is HKDF-SHA-256 (RFC 5869) of the token with the salt; the magic is the associated data.
 */

export interface Snapshot {
  /** The service that the values are from. */
  readonly host: string;
  /** Time at which the values were resolved, in Unix milliseconds. */
  readonly at: number;
  /** The values, by reference. */
  readonly values: Readonly<Record<string, string>>;
}

export const MAGIC = Buffer.from("IVFALL01");
const SALT_BYTES = 16;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

const keyOf = (token: string, salt: Uint8Array) => Buffer.from(hkdfSync("sha256", token, salt, "item-vault fallback file", 32));

export function sealSnapshot(snapshot: Snapshot, token: string): Buffer {
  const [salt, nonce] = [randomBytes(SALT_BYTES), randomBytes(NONCE_BYTES)];
  const cipher = createCipheriv("aes-256-gcm", keyOf(token, salt), nonce).setAAD(MAGIC);
  const sealed = Buffer.concat([cipher.update(JSON.stringify(snapshot), "utf8"), cipher.final()]);
  return Buffer.concat([MAGIC, salt, nonce, sealed, cipher.getAuthTag()]);
}

/** Returns the values, or undefined if the file is damaged or sealed under another token. */
export function openSnapshot(bytes: Buffer, token: string): Snapshot | undefined {
  const parts = [
    MAGIC.length,
    SALT_BYTES,
    NONCE_BYTES,
    bytes.length - MAGIC.length - SALT_BYTES - NONCE_BYTES - TAG_BYTES,
    TAG_BYTES,
  ];
  if (parts[3]! < 0 || !bytes.subarray(0, MAGIC.length).equals(MAGIC)) return undefined;
  let at = 0;
  const [, salt, nonce, sealed, tag] = parts.map((length) => bytes.subarray(at, (at += length))) as [
    Buffer,
    Buffer,
    Buffer,
    Buffer,
    Buffer,
  ];
  try {
    const decipher = createDecipheriv("aes-256-gcm", keyOf(token, salt), nonce, { authTagLength: TAG_BYTES });
    decipher.setAAD(MAGIC).setAuthTag(tag);
    return JSON.parse(Buffer.concat([decipher.update(sealed), decipher.final()]).toString("utf8")) as Snapshot;
  } catch {
    return undefined;
  }
}
