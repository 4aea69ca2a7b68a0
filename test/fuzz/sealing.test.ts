import * as fc from "fast-check";
import { expect, it } from "vitest";
import { KINDS, NOWHERE, open, openBytes, type Place, seal, sealBytes } from "../../src/crypto/seal.ts";
import { runs } from "../support/runs.ts";

/** Sealed texts, carried from any place to any other and damaged in any way: what was sealed comes out, or nothing. */

const newKey = () =>
  crypto.subtle.generateKey({ name: "AES-GCM", length: 256 }, false, ["encrypt", "decrypt"]) as Promise<CryptoKey>;
const [key, other] = [await newKey(), await newKey()];
const INTEGRITY = { ok: false, failure: { kind: "integrity" } };

/** Few of each, so that two places often differ in one thing alone, or in none. */
const id = fc.oneof(fc.constantFrom(NOWHERE, "3fa85f64-5717-4562-b3fc-2c963f66afa6"), fc.uuid());
const kinds = Object.keys(KINDS) as Place["kind"][];
const place: fc.Arbitrary<Place> = fc.record({
  kind: fc.constantFrom(...kinds),
  vault: id,
  record: id,
  version: fc.oneof(fc.constantFrom(0, 1, 256, 2 ** 32, Number.MAX_SAFE_INTEGER), fc.maxSafeNat()),
  key: fc.oneof(fc.constantFrom("", "k1", "k2"), fc.stringMatching(/^[\x21-\x7e]{0,32}$/)),
});
/** Another place: one that differs in one thing, in all, or not at all. */
const others = {
  kind: fc.constantFrom(...kinds),
  vault: id,
  record: id,
  version: fc.maxSafeNat(),
  key: fc.constantFrom("", "k", "k1"),
};
const change = fc.oneof(
  { weight: 3, arbitrary: fc.constant({}) },
  ...Object.entries(others).map(([name, value]) => fc.record({ [name]: value })),
  fc.record(others),
);
const text = fc.string({ unit: "grapheme", maxLength: 40 });

it("a sealed text opens with its own key in its own place, and nowhere else", async () => {
  const seen = { opened: 0, refused: 0 };
  await fc.assert(
    fc.asyncProperty(text, place, change, fc.constantFrom(key, key, other), async (plain, here, changed, under) => {
      const there = { ...here, ...changed };
      const opened = await open(under, there, await seal(key, here, plain));
      const opens = under === key && JSON.stringify(there) === JSON.stringify(here);
      seen[opens ? "opened" : "refused"]++;
      expect(opened).toEqual(opens ? { ok: true, value: plain } : INTEGRITY);
    }),
    { numRuns: runs(500) },
  );
  expect(Math.min(...Object.values(seen))).toBeGreaterThan(runs(500) / 100);
});

/** Bits flipped, bytes taken out, put in or exchanged. */
const damage = fc.array(fc.tuple(fc.constantFrom("flip", "cut", "insert", "tail", "swap"), fc.nat(), fc.nat(255)), {
  minLength: 1,
  maxLength: 3,
});

function damaged(sealed: string, steps: [string, number, number][]): string {
  let bytes = [...Uint8Array.fromBase64(sealed)];
  for (const [what, where, byte] of steps) {
    const at = where % Math.max(1, bytes.length);
    if (what === "flip") bytes[at] = (bytes[at] ?? 0) ^ (1 << (byte & 7));
    if (what === "cut") bytes.splice(at, 1 + byte);
    if (what === "insert") bytes.splice(at, 0, byte);
    if (what === "tail") bytes = bytes.slice(0, at);
    if (what === "swap") bytes = [...bytes.slice(at), ...bytes.slice(0, at)];
  }
  return Uint8Array.from(bytes).toBase64();
}

it("a sealed text that is damaged does not open, whatever the damage", async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 40 }), place, damage, async (plain, here, steps) => {
      const sealed = await sealBytes(key, here, plain);
      const broken = damaged(sealed, steps);
      expect(await openBytes(key, here, broken)).toEqual(broken === sealed ? { ok: true, value: plain } : INTEGRITY);
    }),
    { numRuns: runs(500) },
  );
});

it("a sealed text opens in no other spelling, but for blanks", async () => {
  const unit = fc.constantFrom("=", " ", "\n", "-", "_", "+", "/", "A", "B", "\0", "é");
  const edit = fc.tuple(fc.nat(), fc.string({ unit, maxLength: 3 }), fc.nat(1));
  await fc.assert(
    fc.asyncProperty(text, place, edit, async (plain, here, [where, extra, taken]) => {
      const sealed = await seal(key, here, plain);
      const at = where % (sealed.length + 1);
      const spelt = sealed.slice(0, at) + extra + sealed.slice(at + taken);
      const same = spelt.replaceAll(/[ \n]/g, "") === sealed;
      expect(await open(key, here, spelt)).toEqual(same ? { ok: true, value: plain } : INTEGRITY);
    }),
    { numRuns: runs(500) },
  );
});
