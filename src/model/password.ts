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

/** The characters of a set that a recipe leaves. */
type Characters = readonly string[];

const sizes = (sets: readonly Characters[]) => sets.map((set) => set.length);

/**
 * Generates a value by a recipe: counts the valid strings, draws a number below the count, and returns the string with that
 * number. Every valid string is equally likely, but for the bias of `drawBelow`. `random` is called once; the number of bytes
 * depends only on the recipe. Fails with 400 if the recipe leaves no character.
 */
export function generatePassword(recipe: PasswordRecipe, random: (size: number) => Uint8Array): Result<Password> {
  const sets = [...new Set(recipe.characterSets)]
    .map((set) => [...CHARACTER_SETS[set]].filter((character) => !recipe.excludeCharacters.includes(character)))
    .filter((set) => set.length > 0);
  if (sets.length === 0) return invalid("recipe: leaves no character to draw from");
  // A value shorter than the number of sets cannot hold one of each.
  const required = recipe.length >= sets.length ? sets : [];
  const count = countValid(recipe.length, sets.flat().length, sizes(required));
  const value = validString(drawBelow(count, random), recipe.length, sets, required);
  return ok({ value, entropy: round(log2(count)) });
}

/**
 * Returns a random integer from 0 to `bound` - 1. The random bits are at least 64 more than `bound` has, modulo `bound` (the
 * simple modular method of NIST SP 800-90A Rev. 1, appendix A.5.3). The probability of each integer differs from 1/bound by less
 * than 2^-64 of it. No fixed number of bits gives exactly equal probabilities, and rejection sampling has no bound on its bits.
 */
function drawBelow(bound: bigint, random: (size: number) => Uint8Array): bigint {
  const bits = bound.toString(2).length + 64;
  return random(Math.ceil(bits / 8)).reduce((number, byte) => (number << 8n) | BigInt(byte), 0n) % bound;
}

/**
 * Returns the valid string with a number. Valid strings are numbered from 0 in lexicographic order of the alphabet, which is all
 * sets in order. The sets are disjoint. The string contains a character of each `required` set.
 */
export function validString(
  number: bigint,
  length: number,
  sets: readonly Characters[],
  required: readonly Characters[],
): string {
  const alphabet = sets.flat();
  let value = "";
  let missing = required;
  let rest = number;
  for (let left = length - 1; left >= 0; left--) {
    // Two characters of one set have equally many completions. When no set is missing, this holds for the whole alphabet.
    for (const set of missing.length > 0 ? sets : [alphabet]) {
      const after = missing.filter((other) => other !== set);
      const completions = countValid(left, alphabet.length, sizes(after));
      const strings = completions * BigInt(set.length);
      if (rest < strings) {
        value += set[Number(rest / completions)];
        rest %= completions;
        missing = after;
        break;
      }
      rest -= strings;
    }
  }
  return value;
}

/**
 * Returns the number of strings of `length` over `alphabet` characters that contain a character of each set (inclusion–exclusion
 * over the missing sets). `sets` has the sizes of disjoint sets.
 */
export function countValid(length: number, alphabet: number, sets: readonly number[]): bigint {
  const [size, ...rest] = sets;
  if (size === undefined) return power(alphabet, length);
  return countValid(length, alphabet, rest) - countValid(length, alphabet - size, rest);
}

/** By base and exponent: at most 69 × 65 numbers of 391 bits for the recipes that exist. */
const powers: bigint[][] = [];

/** `base ** exponent`, computed once per isolate: one request counts completions some ten thousand times. */
function power(base: number, exponent: number): bigint {
  const known = (powers[base] ??= [1n]);
  for (let next = known.length; next <= exponent; next++) known.push(known[next - 1]! * BigInt(base));
  return known[exponent]!;
}

/** Returns the binary logarithm of a positive integer, to the precision of a double. */
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
