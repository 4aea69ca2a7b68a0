import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { generatePassword, type PasswordRecipe } from "../../src/crypto/password.ts";
import { currentCode } from "../../src/model/totp.ts";
import { base32 } from "../../src/model/ids.ts";
import { runs } from "../support/runs.ts";

/** Values that the service makes: passwords of any recipe (contract 1.7), one-time codes of any secret (RFC 6238). */

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

/** How many strings of a length hold one of each set, counted up character by character: by the sets that they hold so far. */
function countSlowly(length: number, sizes: readonly number[]): bigint {
  const all = 2 ** sizes.length - 1;
  let counts = new Map([[0, 1n]]);
  for (let at = 0; at < length; at++) {
    const next = new Map<number, bigint>();
    for (const [held, count] of counts) {
      for (const [set, size] of sizes.entries()) {
        const now = held | (1 << set);
        next.set(now, (next.get(now) ?? 0n) + count * BigInt(size));
      }
    }
    counts = next;
  }
  return length < sizes.length ? [...counts.values()].reduce((sum, count) => sum + count) : counts.get(all)!;
}

/** log2 of a number that a double need not hold. */
const bits = (count: bigint) => Math.log2(Number(`0.${count}`)) + String(count).length * Math.log2(10);

const random = (size: number) => crypto.getRandomValues(new Uint8Array(size));

describe("a password", () => {
  it("is as long as its recipe says, of its characters, one of each set; its entropy is that of the number of such strings", () => {
    fc.assert(
      fc.property(recipe, (given) => {
        const sets = SETS.filter((set) => given.characterSets.includes(set))
          .map((set) => [...ALPHABETS[set]].filter((character) => ![...given.excludeCharacters].includes(character)))
          .filter((set) => set.length > 0);
        const made = generatePassword(given, random);
        expect(made.ok).toBe(sets.length > 0);
        if (!made.ok) return;
        const { value, entropy } = made.value;
        const held = sets.map((set) => set.some((character) => value.includes(character)));
        expect([value.length, [...value].filter((character) => !sets.flat().includes(character))]).toEqual([given.length, []]);
        expect(held.includes(false) && given.length >= sets.length).toBe(false);
        const count = countSlowly(
          given.length,
          sets.map((set) => set.length),
        );
        expect(Math.abs(entropy - bits(count))).toBeLessThan(0.0051); // it is rounded
      }),
      { numRuns: runs(500) },
    );
  });
});

/** RFC 4226 section 5.3 with the counter of RFC 6238 section 4.2, by Web Crypto. */
async function codeSlowly(secret: Uint8Array, hash: string, digits: number, period: number, now: number): Promise<string> {
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
/** Any case; a list of the parameters in any order. */
const spelt = (text: string) => fc.constantFrom(text, text.toUpperCase(), text.toLowerCase());

describe("a one-time code", () => {
  it("of a key URI is that of its secret, hash, digits and period, wherever they stand and however they are spelt", async () => {
    const hash = fc
      .constantFrom("SHA-1", "SHA-256", "SHA-512")
      .chain((name) => fc.record({ name: fc.constant(name), spelt: spelt(name.replace("-", "")) }));
    const uri = fc.tuple(secret, hash, fc.constantFrom(6, 7, 8), fc.integer({ min: 1, max: 999_999_999 }), label);
    const names = fc.tuple(spelt("secret"), spelt("algorithm"), spelt("digits"), spelt("period"), spelt("issuer"));
    const order = fc.shuffledSubarray([0, 1, 2, 3, 4], { minLength: 5 });
    await fc.assert(
      fc.asyncProperty(uri, names, order, now, async ([bytes, algorithm, digits, period, name], spelling, places, time) => {
        const values = [base32(bytes), algorithm.spelt, digits, period, name];
        const query = places.map((place) => `${spelling[place]!}=${values[place]!}`).join("&");
        const expected = await codeSlowly(bytes, algorithm.name, digits, period, time);
        expect(currentCode(`otpauth://totp/${name}?${query}`, time)).toBe(expected);
      }),
      { numRuns: runs(300) },
    );
  });

  it("of a bare secret is that of SHA-1, 6 digits and 30 seconds, in whatever groups it is written", async () => {
    const gap = fc.constantFrom("", "", "", " ", "-", "  ");
    await fc.assert(
      fc.asyncProperty(
        secret,
        fc.infiniteStream(gap),
        fc.boolean(),
        fc.constantFrom("", "=", "======"),
        now,
        async (bytes, gaps, upper, pad, time) => {
          const plain = [...base32(bytes)].map((digit) => gaps.next().value + digit).join("") + pad;
          expect(currentCode(upper ? plain.toUpperCase() : plain, time)).toBe(await codeSlowly(bytes, "SHA-1", 6, 30, time));
        },
      ),
      { numRuns: runs(300) },
    );
  });
});
