import { deriveBits, type RootKey } from "./keyring.ts";
import { blindIndex } from "./seal.ts";

/**
 * Blind indexes of texts that belong to no vault: HMAC-SHA-256 (RFC 2104) under a key that HKDF derives from a root key for each use. So D1
 * finds a row by a text, or counts the rows of one, without a row being opened.
 */

export type IndexUse = "email-index" | "issuer-index" | "user-code-index" | "address-index";

const derived = new WeakMap<CryptoKey, Map<IndexUse, Promise<CryptoKey>>>();

const indexKey = async ({ base }: RootKey, use: IndexUse): Promise<CryptoKey> =>
  crypto.subtle.importKey("raw", await deriveBits(base, use), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);

function keyOf(root: RootKey, use: IndexUse): Promise<CryptoKey> {
  const keys = derived.get(root.base) ?? new Map<IndexUse, Promise<CryptoKey>>();
  const key = keys.get(use) ?? indexKey(root, use);
  derived.set(root.base, keys.set(use, key));
  return key;
}

/** In: the root key that seals the row, and the text in the form in which it is compared. Out: 16 bytes in base64. */
export const keyedIndex = async (root: RootKey, use: IndexUse, text: string): Promise<string> =>
  blindIndex(await keyOf(root, use), text);
