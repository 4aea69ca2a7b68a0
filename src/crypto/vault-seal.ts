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
 * The sealed texts of a vault. Each is sealed under the newest key of the vault, and opens under the key whose number it has. While the
 * vault gets a new key (decision 0032), the texts that were not sealed again yet have the number of the key before.
 */

/** Adds the id of the key, so that a text opens under no other. */
const withKey = (associatedData: AssociatedData, { id }: VaultKey): KeyedAssociatedData => ({ ...associatedData, key: id });

/** Seals a text under the newest key. In: `prefix`, as of `seal`. */
export const sealText = (
  { newest }: VaultKeys,
  associatedData: AssociatedData,
  text: string,
  prefix?: Uint8Array,
): Promise<string> => seal(newest.data, withKey(associatedData, newest), text, { number: newest.number, prefix });

/** Opens a text. Errors: `integrity`, also when the vault has no key of its number. */
export async function openText(keys: VaultKeys, associatedData: AssociatedData, sealed: string): Promise<Result<string>> {
  const { opened } = openUnderItsKey(keys, associatedData, sealed);
  return decodeOpened(await opened);
}

const REFUSED: Promise<Result<never>> = Promise.resolve(fail("integrity"));

/** Out: the key of the number of a text, and the bytes. Not `async`, because the texts of a list are many. */
function openUnderItsKey({ all }: VaultKeys, associatedData: AssociatedData, sealed: string) {
  const parts = parseSealed(sealed);
  const key = all.find(({ number }) => number === parts?.number);
  return { key, opened: key && parts ? openParts(key.data, withKey(associatedData, key), parts) : REFUSED };
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
  const { key, opened: opening } = openUnderItsKey(keys, associatedData, sealed);
  const opened = await opening;
  if (!opened.ok || key === newest) return opened.ok ? ok(sealed) : opened;
  const prefix = keepsPrefix ? noncePrefix(sealed) : undefined;
  return ok(await sealBytes(newest.data, withKey(associatedData, newest), opened.value, { number: newest.number, prefix }));
}
