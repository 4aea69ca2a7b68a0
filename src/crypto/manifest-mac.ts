import { derivedKey, type RootKey } from "./keyring.ts";

/** The MAC of the manifests of backups: HMAC-SHA-256 (RFC 2104) under a key that HKDF derives from a root key for this use. */

const keyOf = (root: RootKey): Promise<CryptoKey> => derivedKey(root, "backup-manifest", "HMAC");

/** Returns the MAC of a text, in hexadecimal. */
export const macOf = async (root: RootKey, text: string): Promise<string> =>
  new Uint8Array(await crypto.subtle.sign("HMAC", await keyOf(root), new TextEncoder().encode(text))).toHex();

/** Verifies the MAC of a text, in hexadecimal. Web Crypto compares in constant time. */
export async function isMacOf(root: RootKey, text: string, mac: string): Promise<boolean> {
  if (!/^[0-9a-f]{64}$/.test(mac)) return false;
  return crypto.subtle.verify("HMAC", await keyOf(root), Uint8Array.fromHex(mac), new TextEncoder().encode(text));
}
