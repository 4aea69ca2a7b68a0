import { describe, expect, it } from "vitest";
import { generatePassword, type PasswordRecipe } from "../../src/model/password.ts";
import { seeded } from "../support/bindings.ts";
import { runs } from "../support/runs.ts";

/**
 * Contract 7.2 to 7.6: which characters a recipe uses, that all valid strings are equally likely, and that the entropy is
 * computed from their number.
 */

const ALPHABET = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!@.-_*";
const ALL = ["LETTERS", "DIGITS", "SYMBOLS"] as const;

/** A recipe that allows these characters only. */
const over = (length: number, characters: string): PasswordRecipe => ({
  length,
  characterSets: ALL,
  excludeCharacters: [...ALPHABET].filter((character) => !characters.includes(character)).join(""),
});

function generate(recipe: PasswordRecipe, random: (size: number) => Uint8Array) {
  const made = generatePassword(recipe, random);
  if (!made.ok) throw new Error("refused");
  return made.value;
}

/** A source of pseudo-random bytes: the same bytes for the same seed. */
function bytes(seed: number) {
  const next = seeded(seed);
  return (size: number) => Uint8Array.from({ length: size }, () => Math.floor(256 * next()));
}

/** All strings of a length over some characters. */
const strings = (length: number, characters: readonly string[]): string[] =>
  length === 0 ? [""] : strings(length - 1, characters).flatMap((start) => characters.map((character) => start + character));

const CLASSES = [/[a-z]/i, /\d/, /[!@.\-_*]/];
/** All valid strings of `over(length, characters)`, by enumeration. */
function valid(length: number, characters: string): string[] {
  const required = CLASSES.filter((set) => set.test(characters));
  return strings(length, [...characters]).filter((value) => length < required.length || required.every((set) => set.test(value)));
}

describe("a recipe", () => {
  it.each([
    [{}, 68],
    [{ characterSets: ["LETTERS"] }, 52],
    [{ characterSets: ["SYMBOLS", "DIGITS"] }, 16],
    [{ characterSets: ["DIGITS", "DIGITS"] }, 10],
    [{ excludeCharacters: "abcé😀!!" }, 64],
    [{ characterSets: ["SYMBOLS"], excludeCharacters: "!@.-_" }, 1],
  ] as const)("%j uses %d characters", (recipe, count) => {
    const random = bytes(4);
    const used = new Set<string>();
    for (let time = 0; time < 100; time++) {
      const { value } = generate({ length: 64, characterSets: ALL, excludeCharacters: "", ...recipe }, random);
      for (const character of value) used.add(character);
    }
    expect(used.size).toBe(count);
    expect([...used].filter((character) => !ALPHABET.includes(character))).toEqual([]);
  });

  it("that leaves no character is refused as invalid (contract 7.5)", () => {
    for (const characterSets of [ALL, ["DIGITS"], []] as const) {
      const made = generatePassword({ length: 1, characterSets, excludeCharacters: ALPHABET }, bytes(5));
      expect(made).toMatchObject({ ok: false, failure: { kind: "invalid" } });
    }
  });

  it("of length 1 to 64 generates a value of that length", () => {
    for (let length = 1; length <= 64; length++) {
      expect(generate({ length, characterSets: ALL, excludeCharacters: "" }, bytes(length)).value).toHaveLength(length);
    }
  });

  it("generates a value with one character of each set that has characters left, if the length allows it", () => {
    const random = bytes(6);
    for (let time = 0; time < 200; time++) {
      const three = generate(over(3, ALPHABET), random);
      expect(CLASSES.map((set) => set.test(three.value))).toEqual([true, true, true]);
      const two = generate({ length: 2, characterSets: ALL, excludeCharacters: "0123456789" }, random);
      expect(CLASSES.map((set) => set.test(two.value))).toEqual([true, false, true]);
    }
  });
});

describe("a generated value", () => {
  it.each([
    ["01!", 3, 18],
    ["a0!", 3, 6],
    ["ab01", 4, 16 * 16 - 2 * 16],
    ["a0!*", 2, 16],
    ["0123456789", 2, 100],
    ["abcdefgh0!", 3, 6 * 8],
    ["a!*", 5, 3 ** 5 - 2 ** 5 - 1],
  ])("over %s of length %d is each of the valid strings with equal probability", (characters, length, count) => {
    const random = bytes(1);
    const expected = valid(length, characters);
    expect(expected).toHaveLength(count);
    const each = runs(20, 300);
    const counts = new Map(expected.map((value) => [value, 0]));
    for (let time = 0; time < each * count; time++) {
      const { value } = generate(over(length, characters), random);
      counts.set(value, (counts.get(value) ?? Number.NaN) + 1);
    }
    expect(counts.size).toBe(count); // no other string was generated
    const chiSquare = [...counts.values()].reduce((sum, times) => sum + (times - each) ** 2 / each, 0);
    const freedom = count - 1;
    expect(Math.abs(chiSquare - freedom)).toBeLessThan(6 * Math.sqrt(2 * freedom));
  });

  it("has each character from equally many of the 256 bytes: the bytes beyond are dropped", () => {
    const digits = Array.from({ length: 256 }, (_, byte) => {
      const source = (size: number) => Uint8Array.from({ length: size }, (__, index) => (index === 0 ? byte : 0));
      return generate({ length: 1, characterSets: ["DIGITS"], excludeCharacters: "" }, source).value;
    });
    const counts = [..."123456789"].map((digit) => digits.filter((one) => one === digit).length);
    expect(counts).toEqual(counts.map(() => 25)); // a dropped byte is followed by 0
  });

  it("has as entropy the binary logarithm of the number of valid strings", () => {
    for (const characters of ["a", "ab", "a0", "ab0", "a0!", "ab01!*"]) {
      for (let length = 1; length <= 5; length++) {
        const { entropy } = generate(over(length, characters), bytes(2));
        expect(entropy).toBeCloseTo(Math.log2(valid(length, characters).length), 2);
      }
    }
  });

  it.each([
    [32, 194.71],
    [64, 389.61],
    [1, 6.09],
    [2, 12.17],
  ])("of all sets and length %d has an entropy of %d bits", (length, bits) => {
    expect(generate({ length, characterSets: ALL, excludeCharacters: "" }, bytes(3)).entropy).toBeCloseTo(bits, 1);
  });
});
