import { fail, ok, type Result } from "../model/result.ts";
import {
  type AssociatedData,
  type KeyedAssociatedData,
  keyNumberOf,
  noncePrefix,
  open,
  openBytes,
  seal,
  sealBytes,
} from "./seal.ts";
import type { VaultKey, VaultKeys } from "./vault-keys.ts";

/**
 * The sealed texts of a vault. Each is sealed under the newest key of the vault, and opens under the key whose number it has. While the
 * vault gets a new key (decision 0032), the texts that were not sealed again yet have the number of the key before.
 */

/** Adds the id of the key, so that a text opens under no other. */
const withKey = (associatedData: AssociatedData, { id }: VaultKey): KeyedAssociatedData => ({ ...associatedData, key: id });

const keyOf = ({ all }: VaultKeys, sealed: string): VaultKey | undefined => {
  const number = keyNumberOf(sealed);
  return all.find((key) => key.number === number);
};

/** Seals a text under the newest key. In: `prefix`, as of `seal`. */
export const sealText = (
  { newest }: VaultKeys,
  associatedData: AssociatedData,
  text: string,
  prefix?: Uint8Array,
): Promise<string> => seal(newest.data, withKey(associatedData, newest), text, { number: newest.number, prefix });

/** Opens a text. Errors: `integrity`, also when the vault has no key of its number. */
export async function openText(keys: VaultKeys, associatedData: AssociatedData, sealed: string): Promise<Result<string>> {
  const key = keyOf(keys, sealed);
  return key ? open(key.data, withKey(associatedData, key), sealed, key.number) : fail("integrity");
}

/**
 * Seals a text under the newest key that is under an earlier one. The bytes in it stay as they are, so its length does too.
 * In: whether it keeps the first bytes of its nonce, of which the entity tag of an Item is made (decision 0015).
 * Out: the text; the same one when it is under the newest key. Errors: `integrity`, when it does not open.
 */
export async function resealText(
  keys: VaultKeys,
  associatedData: AssociatedData,
  sealed: string,
  keepsPrefix: boolean,
): Promise<Result<string>> {
  const { newest } = keys;
  const key = keyOf(keys, sealed);
  const opened = key ? await openBytes(key.data, withKey(associatedData, key), sealed, key.number) : fail("integrity");
  if (!opened.ok || key === newest) return opened.ok ? ok(sealed) : opened;
  const prefix = keepsPrefix ? noncePrefix(sealed) : undefined;
  return ok(await sealBytes(newest.data, withKey(associatedData, newest), opened.value, { number: newest.number, prefix }));
}
