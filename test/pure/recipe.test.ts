import { describe, expect, it } from "vitest";
import { countValid, generatePassword, type PasswordRecipe } from "../../src/crypto/password.ts";
import { seeded } from "../support/bindings.ts";

/** Contract 1.7: what a recipe gives, that every valid string is equally likely, and that the entropy counts them exactly. */

const ALPHABET = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!@.-_*";
const ALL = ["LETTERS", "DIGITS", "SYMBOLS"] as const;

/** A recipe that draws from these characters alone. */
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

/** Bytes that a seed repeats. */
function bytes(seed: number) {
  const next = seeded(seed);
  return (size: number) => Uint8Array.from({ length: size }, () => Math.floor(256 * next()));
}

/** All strings of a length. */
const strings = (length: number, characters: readonly string[]): string[] =>
  length === 0 ? [""] : strings(length - 1, characters).flatMap((start) => characters.map((character) => start + character));

const CLASSES = [/[a-z]/i, /\d/, /[!@.\-_*]/];
/** The valid strings of `over(length, characters)`, one by one. */
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
  ] as const)("%j draws from %d characters", (recipe, count) => {
    const random = bytes(4);
    const seen = new Set<string>();
    for (let time = 0; time < 100; time++) {
      const { value } = generate({ length: 64, characterSets: ALL, excludeCharacters: "", ...recipe }, random);
      for (const character of value) seen.add(character);
    }
    expect(seen.size).toBe(count);
    expect([...seen].filter((character) => !ALPHABET.includes(character))).toEqual([]);
  });

  it("that leaves no character is a 400", () => {
    for (const characterSets of [ALL, ["DIGITS"], []] as const) {
      const made = generatePassword({ length: 1, characterSets, excludeCharacters: ALPHABET }, bytes(5));
      expect(made).toMatchObject({ ok: false, failure: { kind: "invalid" } });
    }
  });

  it("gives a value of every length from 1 to 64", () => {
    for (let length = 1; length <= 64; length++) {
      expect(generate({ length, characterSets: ALL, excludeCharacters: "" }, bytes(length)).value).toHaveLength(length);
    }
  });

  it("gives one of each of its sets that has a character left, when the length allows", () => {
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
  ])("over %s of length %d is each of the valid strings, equally often", (characters, length, count) => {
    const random = bytes(1);
    const expected = valid(length, characters);
    expect(expected).toHaveLength(count);
    const each = 300;
    const seen = new Map(expected.map((value) => [value, 0]));
    for (let time = 0; time < each * count; time++) {
      const { value } = generate(over(length, characters), random);
      seen.set(value, (seen.get(value) ?? Number.NaN) + 1);
    }
    expect(seen.size).toBe(count); // and no others
    const chiSquare = [...seen.values()].reduce((sum, times) => sum + (times - each) ** 2 / each, 0);
    const freedom = count - 1;
    expect(Math.abs(chiSquare - freedom)).toBeLessThan(6 * Math.sqrt(2 * freedom));
  });

  it("has the entropy of the number of its valid strings", () => {
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
  ])("of all sets and length %d has %d bits", (length, bits) => {
    expect(generate({ length, characterSets: ALL, excludeCharacters: "" }, bytes(3)).entropy).toBeCloseTo(bits, 1);
  });
});

describe("countValid", () => {
  it("counts as one does by writing all strings down", () => {
    for (const sets of [[], [1], [2], [1, 1], [1, 2], [3, 1], [1, 1, 1], [2, 1, 2]]) {
      for (const others of [0, 1]) {
        const owners = [
          ...sets.flatMap((size, set) => Array<string>(size).fill(String(set))),
          ...Array<string>(others).fill("x"),
        ];
        for (let length = 0; length <= 4; length++) {
          const counted = strings(length, owners).filter((value) => sets.every((_, set) => value.includes(String(set)))).length;
          expect(countValid(length, owners.length, sets)).toBe(BigInt(counted));
        }
      }
    }
  });
});
