import { foldedBlindIndex } from "../../crypto/seal.ts";
import type { VaultKey, VaultKeys } from "../../crypto/vault-keys.ts";
import { fold, FOLD_VERSION } from "../../model/fold.ts";

/**
 * The index of folded titles (decision 0021). `items.folded_index` holds the blind index of the folded title, 24 characters,
 * and then the `title_index` of that title. A release that does not know the column changes `title_index` alone: then the
 * expression that is indexed becomes NULL, and the row counts as one whose title is not indexed.
 */

/** SQL: the folded index of the current title of a row; NULL when it is not known. As in the definition of the index. */
export const FOLDED = "CASE WHEN substr(folded_index, 25) = title_index THEN substr(folded_index, 1, 24) END";

/** SQL: the rows by this index. Without the hint SQLite takes the primary key and reads every Item. */
export const BY_FOLDED_TITLE = "items INDEXED BY items_by_folded_title";

/** Stands for the title of a row that does not open: no blind index has this text, so no name finds the row. */
export const UNREADABLE = "-".repeat(24);

/** The blind index of the fold of a name. */
export const foldedIndex = ({ index }: VaultKey, name: string): Promise<string> =>
  foldedBlindIndex(index, FOLD_VERSION, fold(name));

/** All that a row may have for this name: one under each key of the vault. */
export const foldedIndexes = (keys: VaultKeys, name: string): Promise<string[]> =>
  Promise.all(keys.all.map((key) => foldedIndex(key, name)));
