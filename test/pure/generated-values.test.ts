import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { countValid, generatePassword, type PasswordRecipe, validString } from "../../src/model/password.ts";
import { CHARACTER_SET_NAMES, CHARACTER_SETS, RECIPE_LENGTH } from "../../src/model/recipe.ts";
import { seeded } from "../support/bindings.ts";
import { runs } from "../support/runs.ts";

/** Contract 7.4: generated values are uniform over the valid strings, and the random bytes that one takes are bounded. */

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

/** A source that counts its bytes, and throws when they are more than 10,000. */
function counting(source: (size: number) => Uint8Array) {
  const count = { bytes: 0 };
  const random = (size: number) => {
    count.bytes += size;
    if (count.bytes > 10_000) throw new Error("more than 10,000 random bytes");
    return source(size);
  };
  return { count, random };
}

/** The recipes that fill most random strings with characters of one set. */
const RECIPES: readonly (readonly [string, PasswordRecipe])[] = [
  ["3 characters, 52 letters, 1 digit, 1 symbol", over(3, `${LETTERS}0!`)],
  ["64 characters, 1 digit left", over(64, `${LETTERS}0${SYMBOLS}`)],
  ["64 characters, 1 digit and 1 symbol left", over(64, `${LETTERS}0!`)],
  ["64 characters of all sets", over(64, ALPHABET)],
  ["1 possible value", over(64, "0")],
];

describe("the random bytes of a generated value", () => {
  /** The number of strings of 64 of the 68 characters has 390 bits; 64 more are drawn, and rounded up to bytes. */
  const MOST = Math.ceil((390 + 64) / 8);

  it.each(RECIPES)("are at most 57, whatever their values are: %s", (_, recipe) => {
    const sources = Array.from({ length: 200 }, (__, seed) => bytes(seed));
    const used = [...sources, (size: number) => new Uint8Array(size), (size: number) => new Uint8Array(size).fill(255)].map(
      (source) => {
        const { count, random } = counting(source);
        expect(generate(recipe, random)).toHaveLength(recipe.length);
        return count.bytes;
      },
    );
    expect(Math.max(...used)).toBeLessThanOrEqual(MOST);
    expect(new Set(used).size).toBe(1);
  });

  it("are 64 bits more than the number of valid strings has, at least", () => {
    for (let length = 1; length <= RECIPE_LENGTH.most; length++) {
      const { count, random } = counting(bytes(length));
      generate(over(length, DIGITS), random);
      expect(8 * count.bytes - 64).toBeGreaterThanOrEqual(length * Math.log2(10));
    }
  });

  it("as a number, modulo the number of valid strings, are the number of the string", () => {
    const [characters, length] = ["ab01!", 4];
    const sets = setsOf(characters);
    const valid = countValid(length, 5, [2, 2, 1]);
    for (let seed = 0; seed < 100; seed++) {
      let drawn = 0n;
      const value = generate(over(length, characters), (size) => {
        const given = bytes(seed)(size);
        drawn = BigInt(`0x${[...given].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`);
        return given;
      });
      expect(value).toBe(validString(drawn % valid, length, sets, sets));
    }
  });
});

/** All strings of a length, in the order of the characters. */
const strings = (length: number, characters: readonly string[]): string[] =>
  length === 0 ? [""] : strings(length - 1, characters).flatMap((start) => characters.map((character) => start + character));

/** All strings that contain one of each required set, in the order of the sets' characters. */
const validStrings = (length: number, sets: readonly string[][], required: readonly string[][]) =>
  strings(length, sets.flat()).filter((value) => required.every((set) => set.some((character) => value.includes(character))));

/** Some characters of a set. */
const some = (set: string) => fc.subarray([...set]).map((left) => left.join(""));

describe("validString", () => {
  it.each(["0", "ab", "a0", "ab0", "a0!", "ab01", "a0!*", "abc01!"])(
    "over %s lists the valid strings as one does by writing all strings down",
    (characters) => {
      const sets = setsOf(characters);
      for (const required of [sets, [], ...sets.map((set) => [set]), sets.slice(1)]) {
        for (let length = 0; length <= 5; length++) {
          const expected = validStrings(length, sets, required);
          const numbers = Array.from(expected, (_, number) => BigInt(number));
          expect(numbers.map((number) => validString(number, length, sets, required))).toEqual(expected);
        }
      }
    },
  );

  it("is the inverse of counting the valid strings before a string, at every length", () => {
    const characters = fc.tuple(some(LETTERS), some(DIGITS), some(SYMBOLS)).map((all) => all.join(""));
    const cases = fc.record({
      characters: characters.filter((all) => all !== ""),
      length: fc.integer({ min: 1, max: RECIPE_LENGTH.most }),
      fraction: fc.bigInt({ min: 0n, max: 2n ** 64n }),
    });
    fc.assert(
      fc.property(cases, ({ characters: all, length, fraction }) => {
        const sets = setsOf(all);
        const required = length >= sets.length ? sets : [];
        const valid = completions(length, sets, required);
        const number = ((valid - 1n) * fraction) / 2n ** 64n;
        const value = validString(number, length, sets, required);
        expect(value).toHaveLength(length);
        expect(numberOf(value, sets, required)).toBe(number);
      }),
      { numRuns: runs(100, 2_000) },
    );
  });
});

/** How many strings of a length contain one of each missing set, counted up character by character: by the sets they hold so far. */
function completions(length: number, sets: readonly string[][], missing: readonly string[][]): bigint {
  const needed = missing.map((set) => 1 << sets.indexOf(set)).reduce((mask, bit) => mask | bit, 0);
  let counts = new Map([[0, 1n]]);
  for (let at = 0; at < length; at++) {
    const next = new Map<number, bigint>();
    for (const [held, count] of counts) {
      for (const [index, set] of sets.entries()) {
        const now = held | ((1 << index) & needed);
        next.set(now, (next.get(now) ?? 0n) + count * BigInt(set.length));
      }
    }
    counts = next;
  }
  return counts.get(needed) ?? 0n;
}

/** How many valid strings come before one. Out: -1 for a string that is not valid. */
function numberOf(value: string, sets: readonly string[][], required: readonly string[][]): bigint {
  let missing = required;
  let before = 0n;
  for (const [at, character] of [...value].entries()) {
    const rest = value.length - at - 1;
    const own = sets.findIndex((set) => set.includes(character));
    for (const [index, set] of sets.entries()) {
      const smaller = index < own ? set.length : index === own ? set.indexOf(character) : 0;
      if (smaller === 0) continue;
      const after = missing.filter((other) => other !== set);
      before += BigInt(smaller) * completions(rest, sets, after);
    }
    missing = missing.filter((set) => set !== sets[own]);
  }
  return missing.length === 0 ? before : -1n;
}

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
