/** The bounds and defaults of generated values (contract 7). */

export const CHARACTER_SETS = {
  LETTERS: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
  DIGITS: "0123456789",
  SYMBOLS: "!@.-_*",
} as const;

export type CharacterSet = keyof typeof CHARACTER_SETS;

export const CHARACTER_SET_NAMES = Object.keys(CHARACTER_SETS) as CharacterSet[];

/** Characters of a generated value. */
export const RECIPE_LENGTH = { least: 1, most: 64, default: 32 } as const;

/** The recipe of a request without one (contract 7). */
export const DEFAULT_RECIPE = {
  length: RECIPE_LENGTH.default,
  characterSets: CHARACTER_SET_NAMES,
  excludeCharacters: "",
} as const;
