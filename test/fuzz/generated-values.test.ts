import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { base32 } from "../../src/model/ids.ts";
import { generatePassword, type PasswordRecipe } from "../../src/model/password.ts";
import { currentCode } from "../../src/model/totp.ts";
import { runs } from "../support/runs.ts";

/** Compares generated passwords (contract 7) and one-time codes (RFC 6238) with reference implementations. */

const ALPHABETS = {
  LETTERS: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
  DIGITS: "0123456789",
  SYMBOLS: "!@.-_*",
} as const;
const SETS = Object.keys(ALPHABETS) as (keyof typeof ALPHABETS)[];
const ALL = Object.values(ALPHABETS).join("");

const excluded = fc.oneof(
  fc.constantFrom("", ...Object.values(ALPHABETS), ALPHABETS.LETTERS + ALPHABETS.DIGITS, ALL.slice(1), ALL),
  fc.string({ unit: fc.constantFrom(...ALL, "é", "😀", "^", "]"), maxLength: 70 }),
);
const recipe: fc.Arbitrary<PasswordRecipe> = fc.record({
  length: fc.oneof(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 64 })),
  characterSets: fc.array(fc.constantFrom(...SETS), { minLength: 1, maxLength: 4 }),
  excludeCharacters: excluded,
});

/** Counts the strings of a length that contain a character of each set, by dynamic programming over the sets used so far. */
function countReference(length: number, sizes: readonly number[]): bigint {
  const all = 2 ** sizes.length - 1;
  let counts = new Map([[0, 1n]]);
  for (let at = 0; at < length; at++) {
    const next = new Map<number, bigint>();
    for (const [used, count] of counts) {
      for (const [set, size] of sizes.entries()) {
        const now = used | (1 << set);
        next.set(now, (next.get(now) ?? 0n) + count * BigInt(size));
      }
    }
    counts = next;
  }
  return length < sizes.length ? [...counts.values()].reduce((sum, count) => sum + count) : counts.get(all)!;
}

/** The binary logarithm of a number that may exceed the range of a double. */
const bits = (count: bigint) => Math.log2(Number(`0.${count}`)) + String(count).length * Math.log2(10);

const random = (size: number) => crypto.getRandomValues(new Uint8Array(size));

describe("a password", () => {
  it("has the length of its recipe, only its characters and one character of each set, and the entropy of the number of such strings", () => {
    fc.assert(
      fc.property(recipe, (drawn) => {
        const sets = SETS.filter((set) => drawn.characterSets.includes(set))
          .map((set) => [...ALPHABETS[set]].filter((character) => ![...drawn.excludeCharacters].includes(character)))
          .filter((set) => set.length > 0);
        const result = generatePassword(drawn, random);
        expect(result.ok).toBe(sets.length > 0);
        if (!result.ok) return;
        const { value, entropy } = result.value;
        const setsUsed = sets.map((set) => set.some((character) => value.includes(character)));
        expect([value.length, [...value].filter((character) => !sets.flat().includes(character))]).toEqual([drawn.length, []]);
        expect(setsUsed.includes(false) && drawn.length >= sets.length).toBe(false);
        const count = countReference(
          drawn.length,
          sets.map((set) => set.length),
        );
        expect(Math.abs(entropy - bits(count))).toBeLessThan(0.0051); // the service rounds it
      }),
      { numRuns: runs(120) },
    );
  });
});

/** RFC 4226 section 5.3 with the counter of RFC 6238 section 4.2, by Web Crypto. */
async function codeReference(secret: Uint8Array, hash: string, digits: number, period: number, now: number): Promise<string> {
  const key = await crypto.subtle.importKey("raw", secret, { name: "HMAC", hash }, false, ["sign"]);
  const counter = new DataView(new ArrayBuffer(8));
  counter.setBigUint64(0, BigInt(Math.floor(now / 1000 / period)));
  const mac = new DataView(await crypto.subtle.sign("HMAC", key, counter.buffer));
  const offset = mac.getUint8(mac.byteLength - 1) % 16;
  return String((mac.getUint32(offset) % 2 ** 31) % 10 ** digits).padStart(digits, "0");
}

const secret = fc.uint8Array({ minLength: 1, maxLength: 80 });
const now = fc.integer({ min: 0, max: 8e15 });
const label = fc.string({ unit: "grapheme", maxLength: 8 }).map(encodeURIComponent);
/** A text as it is, in upper case or in lower case. */
const inAnyCase = (text: string) => fc.constantFrom(text, text.toUpperCase(), text.toLowerCase());

describe("a one-time code", () => {
  it("of a key URI uses its secret, hash, digits and period, for any order and case of the parameters", async () => {
    const hash = fc
      .constantFrom("SHA-1", "SHA-256", "SHA-512")
      .chain((name) => fc.record({ name: fc.constant(name), spelling: inAnyCase(name.replace("-", "")) }));
    const uri = fc.tuple(secret, hash, fc.constantFrom(6, 7, 8), fc.integer({ min: 1, max: 999_999_999 }), label);
    const names = fc.tuple(
      inAnyCase("secret"),
      inAnyCase("algorithm"),
      inAnyCase("digits"),
      inAnyCase("period"),
      inAnyCase("issuer"),
    );
    const order = fc.shuffledSubarray([0, 1, 2, 3, 4], { minLength: 5 });
    await fc.assert(
      fc.asyncProperty(uri, names, order, now, async ([bytes, algorithm, digits, period, name], parameterNames, places, time) => {
        const values = [base32(bytes), algorithm.spelling, digits, period, name];
        const query = places.map((place) => `${parameterNames[place]!}=${values[place]!}`).join("&");
        const expected = await codeReference(bytes, algorithm.name, digits, period, time);
        expect(currentCode(`otpauth://totp/${name}?${query}`, time)).toBe(expected);
      }),
      { numRuns: runs(80) },
    );
  });

  it("of a secret without a URI uses SHA-1, 6 digits and a period of 30 seconds, for any grouping of the secret", async () => {
    const gap = fc.constantFrom("", "", "", " ", "-", "  ");
    await fc.assert(
      fc.asyncProperty(
        secret,
        fc.infiniteStream(gap),
        fc.boolean(),
        fc.constantFrom("", "=", "======"),
        now,
        async (bytes, gaps, upper, pad, time) => {
          const text = [...base32(bytes)].map((digit) => gaps.next().value + digit).join("") + pad;
          expect(currentCode(upper ? text.toUpperCase() : text, time)).toBe(await codeReference(bytes, "SHA-1", 6, 30, time));
        },
      ),
      { numRuns: runs(80) },
    );
  });
});
