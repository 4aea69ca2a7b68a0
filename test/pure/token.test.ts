import { env } from "cloudflare:workers";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Keyring, openKeyring } from "../../src/crypto/keyring.ts";
import { type Claims, hashToken, signToken, verifyToken } from "../../src/crypto/token.ts";
import type { Permission } from "../../src/model/permission.ts";
import { runs } from "../support/runs.ts";

/** Contract 8.2 and 8.3: a token that signToken signed is accepted with its claims while it is valid. test/fuzz/tokens.test.ts mutates it. */

async function keyringOf(secret: string = env.ROOT_KEYS): Promise<Keyring> {
  const keyring = await openKeyring(secret);
  if (!keyring.ok) throw new Error("no keyring");
  return keyring.value;
}

const NOW = 1_800_000_000; // Unix seconds
const REFUSED = { ok: false, failure: { kind: "unauthorized" } };

/** Random ids make each token different, so that no test reads the cached signature of another test's token. */
const makeClaims = (claims: Partial<Claims> = {}): Claims => ({
  id: crypto.randomUUID(),
  name: "a token",
  dialect: "uuid",
  vaults: { [crypto.randomUUID()]: "rw" },
  issuedAt: NOW,
  expiresAt: NOW + 3600,
  ...claims,
});

const permission = fc.constantFrom<Permission>("r", "w", "rw");
const claims: fc.Arbitrary<Claims> = fc.record({
  id: fc.uuid(),
  name: fc.string({ unit: "grapheme", minLength: 1, maxLength: 200 }),
  dialect: fc.constantFrom("uuid", "connect"),
  vaults: fc.dictionary(fc.uuid(), permission, { maxKeys: 10, noNullPrototype: true }),
  issuedAt: fc.integer({ min: 0, max: NOW }),
  expiresAt: fc.integer({ min: NOW + 1, max: 2 ** 40 }),
});

describe("verifyToken", () => {
  it("returns the claims that signToken signed, with the hash of the token", async () => {
    const keyring = await keyringOf();
    await fc.assert(
      fc.asyncProperty(claims, async (signed) => {
        const token = await signToken(keyring, signed);
        expect(await verifyToken(keyring, token, NOW * 1000, 0)).toEqual({
          ok: true,
          value: { ...signed, hash: await hashToken(token) },
        });
      }),
      { numRuns: runs(50) },
    );
  });
});

describe("verifyToken at a time", () => {
  it.each([
    ["a millisecond before exp accepts the token", 3600_000 - 1, true],
    ["equal to exp refuses the token", 3600_000, false],
    ["after exp refuses the token", 3600_001, false],
    ["equal to iat accepts the token", 0, true],
    ["a minute before iat accepts the token, because clocks differ", -60_000, true],
    ["more than a minute before iat refuses the token", -60_001, false],
  ])("%s", async (_, milliseconds, accepted) => {
    const keyring = await keyringOf();
    const token = await signToken(keyring, makeClaims());
    expect((await verifyToken(keyring, token, NOW * 1000 + milliseconds, 0)).ok).toBe(accepted);
  });

  it("after exp refuses the token although its signature is cached", async () => {
    const keyring = await keyringOf();
    const token = await signToken(keyring, makeClaims({ expiresAt: NOW + 10 }));
    expect(await verifyToken(keyring, token, NOW * 1000, 0)).toMatchObject({ ok: true });
    expect(await verifyToken(keyring, token, NOW * 1000 + 9_999, 0)).toMatchObject({ ok: true });
    expect(await verifyToken(keyring, token, NOW * 1000 + 10_000, 0)).toEqual(REFUSED);
    expect(await verifyToken(keyring, token, NOW * 1000 + 9_999, 0)).toMatchObject({ ok: true });
  });

  it.each([
    [NOW - 1, true],
    [NOW, true],
    [NOW + 1, false],
    [NOW + 0.5, false],
  ])(
    "refuses a token that was issued before `notBefore`, also when its signature is cached: notBefore %d",
    async (notBefore, accepted) => {
      const keyring = await keyringOf();
      const token = await signToken(keyring, makeClaims());
      expect((await verifyToken(keyring, token, NOW * 1000, notBefore)).ok).toBe(accepted);
      expect(await verifyToken(keyring, token, NOW * 1000, 0)).toMatchObject({ ok: true });
      expect((await verifyToken(keyring, token, NOW * 1000, notBefore)).ok).toBe(accepted);
    },
  );
});

const ROOT = (byte: string) => btoa(byte.repeat(32));
const secret = (active: string, keys: Record<string, string>) => JSON.stringify({ active, keys });

describe("verifyToken with several keyrings or keys", () => {
  it("does not use a signature cached under one keyring for another keyring with the same key id", async () => {
    const token = await signToken(await keyringOf(), makeClaims());
    expect(await verifyToken(await keyringOf(), token, NOW * 1000, 0)).toMatchObject({ ok: true });
    const other = await keyringOf(secret("k1", { k1: ROOT("x") }));
    expect(await verifyToken(other, token, NOW * 1000, 0)).toEqual(REFUSED);
  });

  it("accepts a token signed with an older key that the keyring contains, and refuses it when the key is removed", async () => {
    const token = await signToken(await keyringOf(secret("old", { old: ROOT("a") })), makeClaims());
    const both = await keyringOf(secret("new", { old: ROOT("a"), new: ROOT("b") }));
    expect(await verifyToken(both, token, NOW * 1000, 0)).toMatchObject({ ok: true });
    const alone = await keyringOf(secret("new", { new: ROOT("b") }));
    expect(await verifyToken(alone, token, NOW * 1000, 0)).toEqual(REFUSED);
  });

  it("refuses a token when its key has another id in the keyring", async () => {
    const token = await signToken(await keyringOf(secret("a", { a: ROOT("a") })), makeClaims());
    const renamed = await keyringOf(secret("b", { b: ROOT("a") }));
    expect(await verifyToken(renamed, token, NOW * 1000, 0)).toEqual(REFUSED);
  });
});
