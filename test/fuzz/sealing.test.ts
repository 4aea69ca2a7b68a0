import * as fc from "fast-check";
import { expect, it } from "vitest";
import { KINDS, NOWHERE, open, openBytes, type KeyedAssociatedData, seal, sealBytes } from "../../src/crypto/seal.ts";
import { runs } from "../support/runs.ts";

/** A sealed text that was moved to another row or mutated opens as the original plaintext or is refused. */

const newKey = () =>
  crypto.subtle.generateKey({ name: "AES-GCM", length: 256 }, false, ["encrypt", "decrypt"]) as Promise<CryptoKey>;
const [key, other] = [await newKey(), await newKey()];
const INTEGRITY = { ok: false, failure: { kind: "integrity" } };

/** Few values of each attribute, so that two places often differ in one attribute or in none. */
const id = fc.oneof(fc.constantFrom(NOWHERE, "3fa85f64-5717-4562-b3fc-2c963f66afa6"), fc.uuid());
const kinds = Object.keys(KINDS) as KeyedAssociatedData["kind"][];
const associatedData: fc.Arbitrary<KeyedAssociatedData> = fc.record({
  kind: fc.constantFrom(...kinds),
  vault: id,
  record: id,
  version: fc.oneof(fc.constantFrom(0, 1, 256, 2 ** 32, Number.MAX_SAFE_INTEGER), fc.maxSafeNat()),
  key: fc.oneof(fc.constantFrom("", "k1", "k2"), fc.stringMatching(/^[\x21-\x7e]{0,32}$/)),
});
/** Changes of associated data: of one attribute, of all, or of none. */
const otherValues = {
  kind: fc.constantFrom(...kinds),
  vault: id,
  record: id,
  version: fc.maxSafeNat(),
  key: fc.constantFrom("", "k", "k1"),
};
const change = fc.oneof(
  { weight: 3, arbitrary: fc.constant({}) },
  ...Object.entries(otherValues).map(([name, value]) => fc.record({ [name]: value })),
  fc.record(otherValues),
);
const text = fc.string({ unit: "grapheme", maxLength: 40 });

it("a sealed text opens with its own key and associated data, and is refused with others", async () => {
  const counts = { opened: 0, refused: 0 };
  await fc.assert(
    fc.asyncProperty(
      text,
      associatedData,
      change,
      fc.constantFrom(key, key, other),
      async (plain, sealedData, changed, openingKey) => {
        const openedPlace = { ...sealedData, ...changed };
        const opened = await open(openingKey, openedPlace, await seal(key, sealedData, plain));
        const opens = openingKey === key && JSON.stringify(openedPlace) === JSON.stringify(sealedData);
        counts[opens ? "opened" : "refused"]++;
        expect(opened).toEqual(opens ? { ok: true, value: plain } : INTEGRITY);
      },
    ),
    { numRuns: runs(200) },
  );
  expect(Math.min(...Object.values(counts))).toBeGreaterThan(runs(200) / 100);
});

/** Mutations: flipped bits, and bytes that are removed, inserted, truncated or rotated. */
const mutations = fc.array(fc.tuple(fc.constantFrom("flip", "remove", "insert", "truncate", "rotate"), fc.nat(), fc.nat(255)), {
  minLength: 1,
  maxLength: 3,
});

function mutated(sealed: string, steps: [string, number, number][]): string {
  let bytes = [...Uint8Array.fromBase64(sealed)];
  for (const [what, position, byte] of steps) {
    const at = position % Math.max(1, bytes.length);
    if (what === "flip") bytes[at] = (bytes[at] ?? 0) ^ (1 << (byte & 7));
    if (what === "remove") bytes.splice(at, 1 + byte);
    if (what === "insert") bytes.splice(at, 0, byte);
    if (what === "truncate") bytes = bytes.slice(0, at);
    if (what === "rotate") bytes = [...bytes.slice(at), ...bytes.slice(0, at)];
  }
  return Uint8Array.from(bytes).toBase64();
}

it("a mutated sealed text does not open, for any mutation", async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 40 }), associatedData, mutations, async (plain, sealedData, steps) => {
      const sealed = await sealBytes(key, sealedData, plain);
      const changed = mutated(sealed, steps);
      expect(await openBytes(key, sealedData, changed)).toEqual(changed === sealed ? { ok: true, value: plain } : INTEGRITY);
    }),
    { numRuns: runs(200) },
  );
});

it("a sealed text opens only in its canonical base64", async () => {
  const unit = fc.constantFrom("=", " ", "\n", "-", "_", "+", "/", "A", "B", "\0", "é");
  const edit = fc.tuple(fc.nat(), fc.string({ unit, maxLength: 3 }), fc.nat(1));
  await fc.assert(
    fc.asyncProperty(text, associatedData, edit, async (plain, sealedData, [position, inserted, removed]) => {
      const sealed = await seal(key, sealedData, plain);
      const at = position % (sealed.length + 1);
      const edited = sealed.slice(0, at) + inserted + sealed.slice(at + removed);
      expect(await open(key, sealedData, edited)).toEqual(edited === sealed ? { ok: true, value: plain } : INTEGRITY);
    }),
    { numRuns: runs(200) },
  );
});
