import { blindIndex } from "./seal.ts";
import { deriveBits, type Keyring, type RootKey } from "./keyring.ts";

/**
 * The blind index of the email addresses of people: HMAC-SHA-256 (RFC 2104) under a key that HKDF derives from a root key for this use.
 * So D1 finds a person, and refuses the same email twice, without a row being opened.
 */

const derived = new WeakMap<CryptoKey, Promise<CryptoKey>>();

const indexKey = async ({ base }: RootKey): Promise<CryptoKey> =>
  crypto.subtle.importKey("raw", await deriveBits(base, "email-index"), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);

const keyOf = (root: RootKey): Promise<CryptoKey> => {
  const key = derived.get(root.base) ?? indexKey(root);
  derived.set(root.base, key);
  return key;
};

/** In: the root key that seals the row, and a normalized email (model/email.ts). Out: 16 bytes in base64. */
export const emailIndex = async (root: RootKey, email: string): Promise<string> => blindIndex(await keyOf(root), email);

/** The indexes of an email under every root key: one of them is in the row, whichever key seals it. */
export const emailIndexes = (keyring: Pick<Keyring, "keys">, email: string): Promise<string[]> =>
  Promise.all(Array.from(keyring.keys.values(), (root) => emailIndex(root, email)));
