import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { estimateEntropy, generatePassword, type PasswordRecipe } from "../../src/model/password.ts";
import { CHARACTER } from "../support/characters.ts";
import { runs } from "../support/runs.ts";
import { seeded } from "../support/seeded.ts";

/**
 * Contract 7.2 to 7.6: all valid strings of a recipe are equally likely, and the entropy of other values is estimated.
 * test/fuzz/generated-values.test.ts compares characters, length and entropy of generated values with a reference implementation.
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
});

describe("estimateEntropy", () => {
  it("returns 0 for the empty value", () => {
    expect(estimateEntropy("")).toBe(0);
  });

  it("returns a finite number that is not negative, for any value", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: CHARACTER }), fc.string({ unit: "binary-ascii", maxLength: 2000 })), (value) => {
        const bits = estimateEntropy(value);
        expect(Number.isFinite(bits) && bits >= 0).toBe(true);
      }),
      { numRuns: runs(30, 1_000) },
    );
  });

  it("returns no smaller number when characters are appended", () => {
    const text = fc.oneof(
      fc.string({ unit: CHARACTER }),
      fc.string({ unit: "binary-ascii", maxLength: 1100 }),
      fc.string({ unit: fc.constantFrom("a", "b", "1") }),
    );
    fc.assert(
      fc.property(text, text, (value, appended) => {
        expect(estimateEntropy(value + appended)).toBeGreaterThanOrEqual(estimateEntropy(value));
      }),
      { numRuns: runs(100, 5_000) },
    );
  });

  it.each(["a", "é", "😀", "aA0!é", " "])("returns a bounded number for a million characters of %j", (unit) => {
    const most = 1024 * Math.log2(26 + 26 + 10 + 33 + 100);
    for (const value of [unit.repeat(1_000_000 / unit.length), `${"a".repeat(999_999)}${unit}`]) {
      const bits = estimateEntropy(value);
      expect(bits).toBeGreaterThan(500);
      expect(bits).toBeLessThanOrEqual(most + 0.01); // rounded
    }
  });

  it("returns less than half for repeated or consecutive characters as for mixed characters", () => {
    for (const weak of ["aaaaaaaa", "abcdefgh", "hgfedcba", "11111111", "12345678"]) {
      expect(estimateEntropy(weak)).toBeLessThan(estimateEntropy("qzkwmxrt") / 2);
    }
  });

  it("returns more for a value with more kinds of characters", () => {
    const values = ["qzkwmxrt", "qzkWmxrt", "qzkWmx7t", "qz!Wmx7t", "qz!Wéx7t"];
    const bits = values.map(estimateEntropy);
    expect(bits).toEqual([...new Set(bits)].toSorted((a, b) => a - b));
  });
});
