import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { blindIndex, fingerprint } from "../../src/crypto/seal.ts";
import { CHARACTER } from "../support/characters.ts";

/** The keyed hash of a title and the hash of a request, which are stored instead of the texts (docs/security.md). */

const hmacKey = () => crypto.subtle.generateKey({ name: "HMAC", hash: "SHA-256" }, false, ["sign"]) as Promise<CryptoKey>;

describe("the blind index of a text", () => {
  it("is the same for the same text and key, and 16 bytes long", async () => {
    const index = await hmacKey();
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: CHARACTER }), async (text) => {
        const blind = await blindIndex(index, text);
        expect([await blindIndex(index, text), Uint8Array.fromBase64(blind).length]).toEqual([blind, 16]);
      }),
      { numRuns: 50 },
    );
  });

  it("differs for texts that differ, also in case, Unicode composition or an invisible character", async () => {
    const index = await hmacKey();
    const titles = ["", " ", "Mail", "mail", "Mail ", "Mail\0", "\ufeffMail", "caf\u00e9", "cafe\u0301"];
    expect(new Set(await Promise.all(titles.map((title) => blindIndex(index, title)))).size).toBe(titles.length);
  });

  it("differs under another key, so that titles of two vaults cannot be compared", async () => {
    expect(await blindIndex(await hmacKey(), "Mail")).not.toBe(await blindIndex(await hmacKey(), "Mail"));
  });
});

describe("the fingerprint of a list of parts", () => {
  it("is the same for the same parts, as text or bytes", async () => {
    expect(await fingerprint("a", "é")).toBe(await fingerprint(new TextEncoder().encode("a"), "é"));
  });

  it("differs for different lists of parts whose concatenation is the same", async () => {
    const parts = [
      [],
      [""],
      ["", ""],
      ["ab"],
      ["a", "b"],
      ["", "ab"],
      ["ab", ""],
      ["1a", "b"],
      ["1", "ab"],
      ["a", "", "b"],
      ["a,b"],
    ];
    expect(new Set(await Promise.all(parts.map((each) => fingerprint(...each)))).size).toBe(parts.length);
  });
});
