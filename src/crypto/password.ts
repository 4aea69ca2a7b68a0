import { CHARACTER_SETS, type CharacterSet } from "../model/recipe.ts";
import { invalid, ok, type Result } from "../model/result.ts";

/** Generated values and their entropy (contract 7). */

export interface PasswordRecipe {
  /** Characters: within RECIPE_LENGTH. */
  readonly length: number;
  readonly characterSets: readonly CharacterSet[];
  readonly excludeCharacters: string;
}

export interface Password {
  readonly value: string;
  /** Bits, rounded to two places. */
  readonly entropy: number;
}

/**
 * Generates a value by a recipe. Every valid string is equally likely.
 * In: the recipe, and a source of random bytes. Errors: 400 when the recipe leaves no character.
 */
export function generatePassword(recipe: PasswordRecipe, random: (size: number) => Uint8Array): Result<Password> {
  const sets = [...new Set(recipe.characterSets)]
    .map((set) => [...CHARACTER_SETS[set]].filter((character) => !recipe.excludeCharacters.includes(character)))
    .filter((set) => set.length > 0);
  const alphabet = sets.flat();
  if (alphabet.length === 0) return invalid("recipe: leaves no character to draw from");
  // A value shorter than the number of sets cannot hold one of each.
  const required = recipe.length >= sets.length ? sets : [];
  const entropy = round(
    log2(
      countValid(
        recipe.length,
        alphabet.length,
        required.map((set) => set.length),
      ),
    ),
  );
  for (;;) {
    const value = draw(alphabet, recipe.length, random);
    if (required.every((set) => set.some((character) => value.includes(character)))) return ok({ value, entropy });
  }
}

/** `length` characters, each equally likely: bytes at or above the last multiple of the alphabet's size are rejected. */
function draw(alphabet: readonly string[], length: number, random: (size: number) => Uint8Array): string {
  const bound = 256 - (256 % alphabet.length);
  let value = "";
  while (value.length < length) {
    for (const byte of random(length - value.length)) {
      if (byte < bound) value += alphabet[byte % alphabet.length];
    }
  }
  return value;
}

/**
 * The number of strings of `length` over `alphabet` characters that contain a character of each set (inclusion–exclusion
 * over the missing sets). In: the sizes of the sets, which are disjoint.
 */
export function countValid(length: number, alphabet: number, sets: readonly number[]): bigint {
  const [size, ...rest] = sets;
  if (size === undefined) return BigInt(alphabet) ** BigInt(length);
  return countValid(length, alphabet, rest) - countValid(length, alphabet - size, rest);
}

/** The binary logarithm of a positive integer, to the precision of a double. */
function log2(count: bigint): number {
  const shift = Math.max(0, count.toString(2).length - 60);
  return shift + Math.log2(Number(count >> BigInt(shift)));
}

const round = (bits: number) => Math.round(bits * 100) / 100;

const CLASSES = [
  [/[a-z]/, 26],
  [/[A-Z]/, 26],
  [/[0-9]/, 10],
  [/[\x20-\x2f\x3a-\x40\x5b-\x60\x7b-\x7e]/, 33],
  [/[^\x20-\x7e]/, 100],
] as const;
const ESTIMATED = 1024;

/**
 * An upper estimate of the entropy of a value that the client chose. The character classes in the value give the size of
 * the alphabet. A character that equals or follows its predecessor counts as one bit. Linear time; only the first 1,024
 * characters count. Out: bits, rounded to two places.
 */
export function estimateEntropy(value: string): number {
  const pool = CLASSES.reduce((sum, [pattern, size]) => sum + (pattern.test(value) ? size : 0), 0);
  let bits = 0;
  let before = Number.NaN;
  for (const character of value.slice(0, ESTIMATED)) {
    const point = character.codePointAt(0)!;
    bits += Math.abs(point - before) <= 1 ? 1 : Math.log2(pool);
    before = point;
  }
  return round(bits);
}
