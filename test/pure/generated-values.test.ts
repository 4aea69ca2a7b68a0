import { describe, expect, it } from "vitest";
import { generatePassword, type PasswordRecipe } from "../../src/model/password.ts";
import { CHARACTER_SET_NAMES, CHARACTER_SETS } from "../../src/model/recipe.ts";
import { seeded } from "../support/bindings.ts";
import { runs } from "../support/runs.ts";

/** Contract 7.4: generated values are uniform over the valid strings. */

const { LETTERS, DIGITS, SYMBOLS } = CHARACTER_SETS;
const ALPHABET = LETTERS + DIGITS + SYMBOLS;

/** A recipe that leaves these characters alone. */
const over = (length: number, characters: string): PasswordRecipe => ({
  length,
  characterSets: CHARACTER_SET_NAMES,
  excludeCharacters: [...ALPHABET].filter((character) => !characters.includes(character)).join(""),
});

/** The sets that `over` leaves. */
const setsOf = (characters: string) =>
  Object.values(CHARACTER_SETS)
    .map((set) => [...set].filter((character) => characters.includes(character)))
    .filter((set) => set.length > 0);

function generate(recipe: PasswordRecipe, random: (size: number) => Uint8Array): string {
  const made = generatePassword(recipe, random);
  if (!made.ok) throw new Error("refused");
  return made.value.value;
}

/** Bytes that a seed repeats. */
function bytes(seed: number) {
  const next = seeded(seed);
  return (size: number) => Uint8Array.from({ length: size }, () => Math.floor(256 * next()));
}

/** All strings of a length, in the order of the characters. */
const strings = (length: number, characters: readonly string[]): string[] =>
  length === 0 ? [""] : strings(length - 1, characters).flatMap((start) => characters.map((character) => start + character));

/** All strings that contain one of each required set, in the order of the sets' characters. */
const validStrings = (length: number, sets: readonly string[][], required: readonly string[][]) =>
  strings(length, sets.flat()).filter((value) => required.every((set) => set.some((character) => value.includes(character))));

describe("a generated value is each of the valid strings, equally often", () => {
  it.each([
    ["52 letters, 1 digit, 1 symbol", `${LETTERS}0!`, 3, 6 * 52],
    ["8 letters, 1 digit, 1 symbol", "abcdefgh0!", 3, 6 * 8],
    ["3 letters, 1 digit, 1 symbol", "abc0!", 4, 12 * 3 * 3 + 2 * 12 * 3],
    ["1 letter, 2 symbols", "a!*", 5, 3 ** 5 - 2 ** 5 - 1],
    ["2 digits", "01", 6, 2 ** 6],
    ["too short for one of each set", "abc0!", 2, 25],
  ])("of %s", (_, characters, length, count) => {
    const sets = setsOf(characters);
    const expected = validStrings(length, sets, length >= sets.length ? sets : []);
    expect(expected).toHaveLength(count);
    const random = bytes(7);
    const each = runs(20, 100);
    const seen = new Map(expected.map((value) => [value, 0]));
    for (let time = 0; time < each * count; time++) {
      const value = generate(over(length, characters), random);
      seen.set(value, (seen.get(value) ?? Number.NaN) + 1);
    }
    expect(seen.size).toBe(count); // and no others
    expect(Math.min(...seen.values())).toBeGreaterThan(0);
    const chiSquare = [...seen.values()].reduce((sum, times) => sum + (times - each) ** 2 / each, 0);
    const freedom = count - 1;
    expect(Math.abs(chiSquare - freedom)).toBeLessThan(6 * Math.sqrt(2 * freedom));
  });
});
