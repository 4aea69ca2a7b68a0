import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  HEADER_LENGTH,
  headerOf,
  KINDS,
  NONCE_PREFIX_BYTES,
  noncePrefix,
  NOWHERE,
  open,
  parseSealed,
  type KeyedAssociatedData,
  seal,
  sealedLength,
} from "../../src/crypto/seal.ts";
import type { VaultKey } from "../../src/crypto/vault-keys.ts";
import { openText } from "../../src/crypto/vault-seal.ts";
import { CHARACTER } from "../support/characters.ts";
import { runs } from "../support/runs.ts";

/** docs/security.md, Encryption: the format of a sealed text. test/fuzz/sealing.test.ts mutates sealed texts and their places. */

const key = (await crypto.subtle.generateKey({ name: "AES-GCM", length: 256 }, false, ["encrypt", "decrypt"])) as CryptoKey;

const ASSOCIATED_DATA: KeyedAssociatedData = {
  kind: "details",
  vault: "3fa85f64-5717-4562-b3fc-2c963f66afa6",
  record: "c0ffee00-5717-4562-b3fc-2c963f66afa6",
  version: 7,
  key: "k1",
};
const TEXT = "attack at dawn: é😀";
const INTEGRITY = { ok: false, failure: { kind: "integrity" } };

const wellFormed = fc.oneof(
  fc.string({ unit: CHARACTER }),
  fc.string({ unit: fc.constantFrom("\ufeff", "\0", "é", "😀", "a", "\ufffd") }),
);
const bytesOf = (sealed: string) => Uint8Array.fromBase64(sealed);

describe("a sealed text", () => {
  it("has the length that sealedLength returns", async () => {
    await fc.assert(
      fc.asyncProperty(wellFormed, async (text) => {
        expect(await seal(key, ASSOCIATED_DATA, text)).toHaveLength(sealedLength(text));
      }),
      { numRuns: runs(100) },
    );
  });

  it("begins with the bytes of its format: version 1, algorithm 1, and the number of its key", async () => {
    expect([...bytesOf(await seal(key, ASSOCIATED_DATA, TEXT)).subarray(0, 3)]).toEqual([1, 1, 0]);
    expect([...bytesOf(await seal(key, ASSOCIATED_DATA, TEXT, { number: 255 })).subarray(0, 3)]).toEqual([1, 1, 255]);
  });

  it("has a header in its first 4 characters, from which SQL tells the number of its key, as its parts do", async () => {
    for (const number of [0, 1, 2, 63, 64, 255]) {
      const sealed = await seal(key, ASSOCIATED_DATA, TEXT, { number });
      expect([sealed.slice(0, HEADER_LENGTH), parseSealed(sealed)?.number]).toEqual([headerOf(number), number]);
    }
    for (const text of ["", "AQ", "AgEB", "AQIB", "!!!!"]) expect(parseSealed(text)).toBeUndefined();
  });

  it("differs each time, in nonce and ciphertext, although text and associated data are the same", async () => {
    const sealed = await Promise.all(Array.from({ length: 50 }, () => seal(key, ASSOCIATED_DATA, TEXT)));
    expect(new Set(sealed).size).toBe(50);
    expect(new Set(sealed.map((one) => bytesOf(one).slice(3, 15).toHex())).size).toBe(50);
    expect(new Set(sealed.map((one) => bytesOf(one).slice(15, 21).toHex())).size).toBe(50);
  });

  it("has a nonce that begins with the given prefix, and differs each time all the same", async () => {
    const prefix = crypto.getRandomValues(new Uint8Array(NONCE_PREFIX_BYTES));
    const texts = await Promise.all(Array.from({ length: 50 }, () => seal(key, ASSOCIATED_DATA, TEXT, { prefix })));
    expect(texts.map(noncePrefix)).toEqual(texts.map(() => prefix));
    expect(new Set(texts.map((sealed) => bytesOf(sealed).subarray(3, 15).toHex())).size).toBe(50);
    expect(await open(key, ASSOCIATED_DATA, texts[0]!)).toEqual({ ok: true, value: TEXT });
  });
});

describe("open refuses a sealed text", () => {
  it("under another number of its key", async () => {
    const sealed = await seal(key, ASSOCIATED_DATA, TEXT, { number: 2 });
    const openAs = (number: number) => {
      const only: VaultKey = { id: ASSOCIATED_DATA.key, number, data: key };
      return openText({ all: [only] }, ASSOCIATED_DATA, sealed);
    };
    expect(await openAs(2)).toEqual({ ok: true, value: TEXT });
    for (const number of [0, 1, 3, 258, NaN]) expect(await openAs(number)).toEqual(INTEGRITY);
    // A key of the service has the number 0.
    expect(await open(key, ASSOCIATED_DATA, sealed)).toEqual(INTEGRITY);
  });

  it("as another kind, for every pair of kinds", async () => {
    const kinds = Object.keys(KINDS) as KeyedAssociatedData["kind"][];
    for (const kind of kinds) {
      const sealed = await seal(key, { ...ASSOCIATED_DATA, kind }, TEXT);
      for (const other of kinds) {
        expect(await open(key, { ...ASSOCIATED_DATA, kind: other }, sealed)).toEqual(
          kind === other ? { ok: true, value: TEXT } : INTEGRITY,
        );
      }
    }
    expect(new Set(Object.values(KINDS)).size).toBe(kinds.length);
  });

  it.each<[string, Partial<KeyedAssociatedData>]>([
    ["another vault", { vault: ASSOCIATED_DATA.record }],
    ["no vault", { vault: NOWHERE }],
    ["a vault whose id differs in one bit", { vault: ASSOCIATED_DATA.vault.replace(/6$/, "7") }],
    ["another record", { record: ASSOCIATED_DATA.vault }],
    ["a record whose id differs in one bit", { record: ASSOCIATED_DATA.record.replace(/6$/, "7") }],
    ["vault and record exchanged", { vault: ASSOCIATED_DATA.record, record: ASSOCIATED_DATA.vault }],
    ["the next version", { version: 8 }],
    ["the previous version", { version: 6 }],
    ["a version that differs in its high bits only", { version: 7 + 2 ** 40 }],
    ["another key id", { key: "k2" }],
    ["a longer key id with the same beginning", { key: "k11" }],
    ["a shorter key id", { key: "k" }],
    ["no key id", { key: "" }],
  ])("with the associated data of %s", async (_, change) => {
    const sealed = await seal(key, ASSOCIATED_DATA, TEXT);
    expect(await open(key, { ...ASSOCIATED_DATA, ...change }, sealed)).toEqual(INTEGRITY);
    const sealedThere = await seal(key, { ...ASSOCIATED_DATA, ...change }, TEXT);
    expect(await open(key, ASSOCIATED_DATA, sealedThere)).toEqual(INTEGRITY);
  });
});
