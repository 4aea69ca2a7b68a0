import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { blindIndex, fingerprint } from "../../src/crypto/seal.ts";
import { createWebhookSecret, signWebhook } from "../../src/crypto/webhook-signature.ts";
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

/** Standard Webhooks 1.0.0: the example of the specification's own libraries (github.com/standard-webhooks/standard-webhooks). */

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const MESSAGE = { id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: 1_614_265_330, body: '{"test": 2432232314}' };
const SIGNATURE = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";

describe("the signature of a webhook", () => {
  it("is that of the published example", async () => {
    expect(await signWebhook([SECRET], MESSAGE)).toBe(SIGNATURE);
  });

  it.each([
    ["id", { id: "msg_other" }],
    ["timestamp", { timestamp: 1_614_265_331 }],
    ["body", { body: '{"test": 2432232315}' }],
  ])("covers the %s", async (_, change) => {
    expect(await signWebhook([SECRET], { ...MESSAGE, ...change })).not.toBe(SIGNATURE);
  });

  it("has one entry for each secret, with a space between them", async () => {
    const [first, second, ...rest] = (await signWebhook([SECRET, createWebhookSecret()], MESSAGE)).split(" ");
    expect([first, rest]).toEqual([SIGNATURE, []]);
    expect(second).toMatch(/^v1,[A-Za-z0-9+/]{43}=$/);
  });
});

it("a secret is whsec_ and 32 random bytes", () => {
  const secrets = Array.from({ length: 100 }, createWebhookSecret);
  expect(new Set(secrets).size).toBe(100);
  for (const secret of secrets) expect(Uint8Array.fromBase64(secret.replace("whsec_", "")).length).toBe(32);
});
