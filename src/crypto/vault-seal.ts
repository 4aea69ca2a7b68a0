import { fail, type Result } from "../model/result.ts";
import { type AssociatedData, decodeOpened, type KeyedAssociatedData, openParts, parseSealed, seal } from "./seal.ts";
import type { VaultKey, VaultKeys } from "./vault-keys.ts";

/**
 * The sealed texts of a vault. Each text is sealed under the vault's newest key, and carries the number of the key that decrypts
 * it (docs/design/keys.md).
 */

/** Adds the id of the key, so that no other key decrypts the text. */
const withKey = (associatedData: AssociatedData, { id }: VaultKey): KeyedAssociatedData => ({ ...associatedData, key: id });

/** Seals a text under the newest key. `prefix` is that of `SealOptions`. */
export const sealText = (
  { newest }: Pick<VaultKeys, "newest">,
  associatedData: AssociatedData,
  text: string,
  prefix?: Uint8Array,
): Promise<string> => seal(newest.data, withKey(associatedData, newest), text, { number: newest.number, prefix });

/** Decrypts a text. Fails with `integrity`, also if the vault has no key with the text's number. */
export async function openText(
  { all }: Pick<VaultKeys, "all">,
  associatedData: AssociatedData,
  sealed: string,
): Promise<Result<string>> {
  const parts = parseSealed(sealed);
  const key = all.find(({ number }) => number === parts?.number);
  return key && parts ? decodeOpened(await openParts(key.data, withKey(associatedData, key), parts)) : fail("integrity");
}
