import { beforeAll, describe, expect, it } from "vitest";
import { parseValue } from "../../src/model/text.ts";
import { givenKeys, KEYS_MAX, usableKeys, type WorkloadAlgorithm } from "../../src/model/workload-keys.ts";
import { ALGORITHMS, encode, type Json, newSigningKey, type SigningKey } from "../support/workload-tokens.ts";

/** Which keys of a JWK set verify tokens of workloads. */

const keys = {} as Record<WorkloadAlgorithm, SigningKey>;

beforeAll(async () => {
  for (const alg of ALGORITHMS) keys[alg] = await newSigningKey(alg);
});

const number = (bytes: number, first: number) =>
  encode(Uint8Array.from({ length: bytes }, (_, index) => (index === 0 ? first : 255)));

/** Changes of a key that is used; `undefined` removes a member. */
const IGNORED: Readonly<Record<WorkloadAlgorithm | "any", readonly Json[]>> = {
  any: [
    ...[undefined, "", 1, null, ["a"], "x".repeat(256)].map((kid) => ({ kid })),
    ...["enc", "", null, ["sig"]].map((use) => ({ use })),
    ...[[], ["sign"], ["encrypt"], "verify", null].map((operations) => ({ key_ops: operations })),
    ...["none", "HS256", "PS256", "RS512", "ES384", "RSA-OAEP", "", null, ["RS256"], ["ES256"]].map((alg) => ({ alg })),
    ...["oct", "OKP", "rsa", "ec", "__proto__", "constructor", "", null, undefined, ["RSA"]].map((kty) => ({ kty })),
    ...["d", "p", "q", "dp", "dq", "qi", "oth", "k"].flatMap((name) => [{ [name]: "AQAB" }, { [name]: "" }, { [name]: null }]),
  ],
  RS256: [
    ...[undefined, "", null, 1, "AQ=="].flatMap((value) => [{ n: value }, { e: value }]),
    ...[number(255, 255), number(256, 127), `${encode(new Uint8Array(64))}${number(192, 255)}`, number(1025, 1)].map((n) => ({
      n,
    })),
    ...["AQ", "AA", "Ag", "AQAA", "AAAAAQ", "AQAAAAE", "AR"].map((e) => ({ e })),
    { alg: "ES256" },
    { kty: "EC" },
  ],
  ES256: [
    ...[undefined, "", null, 1, "AQ", number(31, 1), number(33, 1), `${number(32, 1)}=`].flatMap((value) => [
      { x: value },
      { y: value },
    ]),
    ...["P-384", "P-521", "secp256k1", "Ed25519", "p-256", null, undefined].map((crv) => ({ crv })),
    { alg: "RS256" },
    { kty: "RSA" },
  ],
};

describe.each(ALGORITHMS)("a key for %s", (alg) => {
  it("is used with its members for verification only, whatever else it has", () => {
    const { jwk, kid } = keys[alg];
    const { use: _, ...kept } = jwk;
    for (const more of [
      {},
      { use: undefined },
      { alg: undefined },
      { key_ops: ["verify"] },
      { x5c: ["a"], ext: true, name: "b" },
    ])
      expect(usableKeys([JSON.parse(JSON.stringify({ ...jwk, ...more }))])).toEqual([{ ...kept, alg, kid }]);
  });

  it.each([...IGNORED.any, ...IGNORED[alg]].map((change) => [JSON.stringify(change).slice(0, 60), change] as const))(
    "is ignored with %s (%#)",
    (_, change) => {
      expect(usableKeys([{ ...keys[alg].jwk, ...change }])).toEqual([]);
    },
  );
});

describe("a set of keys", () => {
  it("may have entries that are no keys", () => {
    const { jwk, usable } = keys.ES256;
    expect(usableKeys([null, 1, "a", [], {}, jwk, [jwk], { keys: [jwk] }])).toEqual([usable]);
  });

  it("may begin a modulus with zeros, which are not counted", () => {
    const modulus = Uint8Array.fromBase64(String(keys.RS256.jwk["n"]), { alphabet: "base64url" });
    const padded = encode(new Uint8Array([0, ...modulus]));
    expect(usableKeys([{ ...keys.RS256.jwk, n: padded }])).toHaveLength(1);
  });
});

function parse(set: unknown): unknown {
  const parsed = parseValue(givenKeys, set, "jwks");
  return parsed.ok ? parsed.value : parsed.failure.detail;
}

describe("the keys that an admin gives", () => {
  it("are those that verify tokens", () => {
    const { jwk, usable } = keys.RS256;
    expect(parse({ keys: [{ kty: "OKP", crv: "Ed25519", x: "a", kid: "b" }, jwk] })).toEqual([usable]);
  });

  it("are refused with a private key, whatever else is wrong with it", async () => {
    const pair = keys.RS256.pair;
    const secret = await crypto.subtle.exportKey("jwk", pair.privateKey);
    for (const key of [secret, { kty: "oct", k: "canary" }, { d: "canary" }])
      expect(parse({ keys: [keys.RS256.jwk, key] })).toBe("jwks: has a private key: give the public ones only");
  });

  it.each<readonly [string, unknown]>([
    ["is missing", undefined],
    ...[null, [], "a", {}, { keys: {} }, { keys: "a" }].map((set) => ["is not an object with a list of keys", set] as const),
    ...[[], [{}], [null]].map((list) => ["has no key with a kid for RS256 or ES256", { keys: list }] as const),
    [`has more than ${KEYS_MAX} keys`, { keys: Array.from({ length: KEYS_MAX + 1 }, () => ({})) }],
  ])("are refused with the words: %s (%#)", (words, set) => {
    expect(parse(set)).toBe(`jwks: ${words}`);
  });
});
