import { fail, ok, type Result } from "../model/result.ts";
import {
  type AssociatedData,
  decodeOpened,
  type KeyedAssociatedData,
  noncePrefix,
  openParts,
  parseSealed,
  seal,
  sealBytes,
} from "./seal.ts";
import type { VaultKey, VaultKeys } from "./vault-keys.ts";

/**
 * The sealed texts of a vault. Each text is sealed under the vault's newest key, and carries the number of the key that decrypts
 * it. During a change of keys (decision 0032), texts that were not resealed yet carry the number of an earlier key.
 */

/** Adds the id of the key, so that no other key decrypts the text. */
const withKey = (associatedData: AssociatedData, { id }: VaultKey): KeyedAssociatedData => ({ ...associatedData, key: id });

/** Seals a text under the newest key. `prefix` is that of `SealOptions`. */
export const sealText = (
  { newest }: VaultKeys,
  associatedData: AssociatedData,
  text: string,
  prefix?: Uint8Array,
): Promise<string> => seal(newest.data, withKey(associatedData, newest), text, { number: newest.number, prefix });

/** Decrypts a text. Fails with `integrity`, also if the vault has no key with the text's number. */
export async function openText(keys: VaultKeys, associatedData: AssociatedData, sealed: string): Promise<Result<string>> {
  const { opened } = openUnderItsKey(keys, associatedData, sealed);
  return decodeOpened(await opened);
}

const REFUSED: Promise<Result<never>> = Promise.resolve(fail("integrity"));

/** Returns the key with the number of a text, and the decrypted bytes. Not `async`, because a list has many texts. */
function openUnderItsKey({ all }: VaultKeys, associatedData: AssociatedData, sealed: string) {
  const parts = parseSealed(sealed);
  const key = all.find(({ number }) => number === parts?.number);
  return { key, opened: key && parts ? openParts(key.data, withKey(associatedData, key), parts) : REFUSED };
}

/**
 * Reseals a text of an earlier key under the newest key. The decrypted bytes, and so the length, do not change. With
 * `keepsPrefix` the text keeps the first bytes of its nonce, from which the entity tag of an Item is made (decision 0015).
 * Returns a text under the newest key unchanged. Fails with `integrity` if the text cannot be decrypted.
 */
export async function resealText(
  keys: VaultKeys,
  associatedData: AssociatedData,
  sealed: string,
  keepsPrefix: boolean,
): Promise<Result<string>> {
  const { newest } = keys;
  const { key, opened: opening } = openUnderItsKey(keys, associatedData, sealed);
  const opened = await opening;
  if (!opened.ok || key === newest) return opened.ok ? ok(sealed) : opened;
  const prefix = keepsPrefix ? noncePrefix(sealed) : undefined;
  return ok(await sealBytes(newest.data, withKey(associatedData, newest), opened.value, { number: newest.number, prefix }));
}
