/**
 * Names without regard to case (contract 16.3). The fold is part of a stored format: the blind index of folded titles
 * (docs/design/reads.md). A change of it needs a new version, and the titles of all vaults indexed again.
 */

/** The version of the fold, which the blind index contains. */
export const FOLD_VERSION = 1;

const ASCII = /^\p{ASCII}*$/u;

/**
 * Folds a name: compatibility forms (NFKC, Unicode Standard Annex 15), then the full case mappings of Unicode. Lower case comes
 * first because ẞ has no upper case. Upper case follows, so that ß and ss get one form. σ and ς get one form too.
 */
export function fold(name: string): string {
  if (ASCII.test(name)) return name.toLowerCase();
  const cased = name.normalize("NFKC").toLowerCase().toUpperCase().toLowerCase();
  return cased.replaceAll("ς", "σ").normalize("NFKC");
}
