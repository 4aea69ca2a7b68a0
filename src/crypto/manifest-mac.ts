import type { RootKey } from "./keyring.ts";

/** The MAC of the manifests of backups: HMAC-SHA-256 (RFC 2104) under a key that HKDF derives from a root key for this use. */

const INFO = "item-vault/v1/backup-manifest";

const derived = new WeakMap<CryptoKey, Promise<CryptoKey>>();

async function macKey({ base }: RootKey): Promise<CryptoKey> {
  const info = new TextEncoder().encode(INFO);
  const bits = await crypto.subtle.deriveBits({ name: "HKDF", hash: "SHA-256", salt: new Uint8Array(), info }, base, 256);
  return crypto.subtle.importKey("raw", bits, { name: "HMAC", hash: "SHA-256" }, false, ["sign", "verify"]);
}

const keyOf = (root: RootKey): Promise<CryptoKey> => {
  const key = derived.get(root.base) ?? macKey(root);
  derived.set(root.base, key);
  return key;
};

/** Out: the MAC of a text, in hexadecimal. */
export const macOf = async (root: RootKey, text: string): Promise<string> =>
  new Uint8Array(await crypto.subtle.sign("HMAC", await keyOf(root), new TextEncoder().encode(text))).toHex();

/** Whether a MAC, in hexadecimal, is that of a text. Web Crypto compares in constant time. */
export async function isMacOf(root: RootKey, text: string, mac: string): Promise<boolean> {
  if (!/^[0-9a-f]{64}$/.test(mac)) return false;
  return crypto.subtle.verify("HMAC", await keyOf(root), Uint8Array.fromHex(mac), new TextEncoder().encode(text));
}
