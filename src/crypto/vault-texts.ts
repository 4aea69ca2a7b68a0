import { fail, ok, type Result } from "../model/result.ts";
import { noncePrefix, open, openBytes, type Place, seal, sealBytes } from "./seal.ts";
import type { VaultKeys } from "./vault-keys.ts";

/**
 * The sealed texts of a vault. Each is sealed under the current key of the vault. While the vault gets new keys (decision 0032),
 * the texts that were not sealed again yet open under the key before.
 */

/** The place of a text of a vault. The id of the key is added to it, so a text opens under no other key. */
export type VaultPlace = Omit<Place, "key">;

/** Until the vault has a list of keys, both of its keys have this number. */
const NUMBER = 1;

const under = (place: VaultPlace, { id }: VaultKeys): Place => ({ ...place, key: id });

/** Seals a text under the current key. In: `prefix`, as of `seal`. */
export const sealText = (keys: VaultKeys, place: VaultPlace, text: string, prefix?: Uint8Array): Promise<string> =>
  seal(keys.data, under(place, keys), text, { number: NUMBER, prefix });

/** Opens a text: under the current key, or else under the previous one. Errors: `integrity`. */
export async function openText(keys: VaultKeys, place: VaultPlace, sealed: string): Promise<Result<string>> {
  const opened = await open(keys.data, under(place, keys), sealed, NUMBER);
  return opened.ok || !keys.previous ? opened : open(keys.previous.data, under(place, keys.previous), sealed, NUMBER);
}

/**
 * Seals a text under the current key that lies under the previous one. The bytes in it stay as they are, so its length does too.
 * In: whether it keeps the first bytes of its nonce, of which the entity tag of an Item is made (decision 0015).
 * Out: the text; the same one when it lies under the current key. Errors: `integrity`, when it opens under neither.
 */
export async function resealText(
  keys: VaultKeys,
  place: VaultPlace,
  sealed: string,
  keepsPrefix: boolean,
): Promise<Result<string>> {
  const { previous } = keys;
  const old = previous ? await openBytes(previous.data, under(place, previous), sealed, NUMBER) : fail("integrity");
  if (!old.ok) {
    const current = await openBytes(keys.data, under(place, keys), sealed, NUMBER);
    return current.ok ? ok(sealed) : current;
  }
  const prefix = keepsPrefix ? noncePrefix(sealed) : undefined;
  return ok(await sealBytes(keys.data, under(place, keys), old.value, { number: NUMBER, prefix }));
}
