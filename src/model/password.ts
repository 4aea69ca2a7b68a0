import { CHARACTER_SETS, type CharacterSet } from "./recipe.ts";
import { invalid, ok, type Result } from "./result.ts";

/** Generated values and their entropy (contract 7). */

export interface PasswordRecipe {
  /** Characters: within RECIPE_LENGTH. */
  readonly length: number;
  readonly characterSets: readonly CharacterSet[];
  readonly excludeCharacters: string;
}

export interface Password {
  readonly value: string;
  /** Bits, rounded to two decimals. */
  readonly entropy: number;
}

/**
 * Generates a value by a recipe. Every valid string is equally likely, because strings are drawn until one is valid: three characters, one of
 * each set, of 52 letters, a digit and a symbol take about 500 strings. Fails with 400 if the recipe leaves no character.
 */
export function generatePassword(recipe: PasswordRecipe, random: (size: number) => Uint8Array): Result<Password> {
  const sets = [...new Set(recipe.characterSets)]
    .map((set) => [...CHARACTER_SETS[set]].filter((character) => !recipe.excludeCharacters.includes(character)))
    .filter((set) => set.length > 0);
  if (sets.length === 0) return invalid("recipe: leaves no character to draw from");
  const alphabet = sets.flat();
  // A value shorter than the number of sets cannot hold one of each.
  const required = recipe.length >= sets.length ? sets : [];
  const characters = drawCharacters(alphabet, random);
  let value: string;
  do value = Array.from({ length: recipe.length }, () => characters.next().value).join("");
  while (!required.every((set) => set.some((character) => value.includes(character))));
  const sizes = required.map((set) => set.length);
  return ok({ value, entropy: round(Math.log2(countValid(recipe.length, alphabet.length, sizes))) });
}

/** Draws characters, each equally likely: a byte that would favor the first characters is dropped. `random` must not repeat one byte. */
function* drawCharacters(alphabet: readonly string[], random: (size: number) => Uint8Array): Generator<string, never> {
  const limit = 256 - (256 % alphabet.length);
  for (;;) for (const byte of random(128)) if (byte < limit) yield alphabet[byte % alphabet.length]!;
}

/**
 * Returns the number of strings of `length` over `alphabet` characters that contain a character of each set (inclusion–exclusion
 * over the missing sets). `sets` has the sizes of disjoint sets.
 */
function countValid(length: number, alphabet: number, [size, ...rest]: readonly number[]): number {
  if (size === undefined) return alphabet ** length;
  return countValid(length, alphabet, rest) - countValid(length, alphabet - size, rest);
}

const round = (bits: number) => Math.round(bits * 100) / 100;

const CLASSES = [
  [/[a-z]/, 26],
  [/[A-Z]/, 26],
  [/[0-9]/, 10],
  [/[\x20-\x2f\x3a-\x40\x5b-\x60\x7b-\x7e]/, 33],
  [/[^\x20-\x7e]/, 100],
] as const;
const ESTIMATED_CHARACTERS_MAX = 1024;

/**
 * Returns an upper estimate of the entropy of a value chosen by the client, in bits with two decimals. The character classes in
 * the value give the size of the alphabet. A character that equals or follows its predecessor counts as one bit. Takes linear
 * time; only the first 1,024 characters count.
 */
export function estimateEntropy(value: string): number {
  const pool = CLASSES.reduce((sum, [pattern, size]) => sum + (pattern.test(value) ? size : 0), 0);
  let bits = 0;
  let before = Number.NaN;
  for (const character of value.slice(0, ESTIMATED_CHARACTERS_MAX)) {
    const point = character.codePointAt(0)!;
    bits += Math.abs(point - before) <= 1 ? 1 : Math.log2(pool);
    before = point;
  }
  return round(bits);
}
