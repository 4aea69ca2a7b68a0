import { foldedBlindIndex } from "../../crypto/seal.ts";
import type { VaultKeys } from "../../crypto/vault-keys.ts";
import { fold, FOLD_VERSION } from "../../model/fold.ts";

/** The index of folded titles (decision 0021): `items.folded_index` holds the blind index of the folded title. */

/** Returns the blind index of a folded name. */
export const foldedIndex = ({ index }: Pick<VaultKeys, "index">, name: string): Promise<string> =>
  foldedBlindIndex(index, FOLD_VERSION, fold(name));
