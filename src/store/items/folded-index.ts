import { foldedBlindIndex } from "../../crypto/seal.ts";
import type { VaultKey, VaultKeys } from "../../crypto/vault-keys.ts";
import { fold, FOLD_VERSION } from "../../model/fold.ts";

/** The index of folded titles (decision 0021): `items.folded_index` holds the blind index of the folded title. */

/** The blind index of the fold of a name. */
export const foldedIndex = ({ index }: VaultKey, name: string): Promise<string> =>
  foldedBlindIndex(index, FOLD_VERSION, fold(name));

/** All that a row may have for this name: one under each key of the vault. */
export const foldedIndexes = (keys: VaultKeys, name: string): Promise<string[]> =>
  Promise.all(keys.all.map((key) => foldedIndex(key, name)));
