import { foldedBlindIndex } from "../../crypto/seal.ts";
import type { VaultKey, VaultKeys } from "../../crypto/vault-keys.ts";
import { fold, FOLD_VERSION } from "../../model/fold.ts";

/** The index of folded titles (decision 0021): `items.folded_index` holds the blind index of the folded title. */

/** Returns the blind index of a folded name. */
export const foldedIndex = ({ index }: VaultKey, name: string): Promise<string> =>
  foldedBlindIndex(index, FOLD_VERSION, fold(name));

/** Returns all blind indexes that a row may have for this name: one under each key of the vault. */
export const foldedIndexes = (keys: VaultKeys, name: string): Promise<string[]> =>
  Promise.all(keys.all.map((key) => foldedIndex(key, name)));
