import * as fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { parseJwt, type VerifiedJwt, type JwtFault, type Verdict, verifyJwt } from "../../src/crypto/jwt.ts";
import { parseValue } from "../../src/model/text.ts";
import { givenKeys, KEYS_MAX, usableKeys, type WorkloadAlgorithm, type WorkloadKey } from "../../src/model/workload-keys.ts";
import { runs } from "../support/runs.ts";
import {
  CATALOGUE,
  decode,
  diceOf,
  EXPECTED,
  FAULTS,
  goodClaims,
  NOW,
  partsOf,
  type Target,
  withPart,
} from "../support/workload-changes.ts";
import { ALGORITHMS, encode, headerOf, type Json, newSigningKey, signToken } from "../support/workload-tokens.ts";

/**
 * Tokens of workloads: those that an issuer has signed for the service are accepted, and each change of one is refused. The changes are
 * generated: 2,000 in short runs, and 100,000 in long ones.
 */

const targets = {} as Record<WorkloadAlgorithm, Target>;

beforeAll(async () => {
  for (const alg of ALGORITHMS) {
    const [key, foreign] = [await newSigningKey(alg), await newSigningKey(alg)];
    const others = await Promise.all(ALGORITHMS.map((one) => newSigningKey(one)));
    targets[alg] = { key, foreign, keys: [...others, key].map(({ usable }) => usable) };
  }
});

async function verify(text: string, keys: readonly WorkloadKey[], expected = EXPECTED): Promise<Verdict<VerifiedJwt>> {
  const parsed = parseJwt(text);
  return parsed.ok ? verifyJwt(parsed.value, keys, expected, NOW * 1000) : parsed;
}

const faultOf = (verdict: Verdict<unknown>): JwtFault | "accepted" => (verdict.ok ? "accepted" : verdict.fault);

/** How many tokens are made for each change and algorithm. */
const CASES = Math.ceil(
  runs(2_000, 100_000) / (CATALOGUE.flatMap(([, changes]) => Object.keys(changes)).length * ALGORITHMS.length),
);

const A_HASH: unknown = expect.stringMatching(/^sha256:[0-9a-f]{64}$/);

describe.each(ALGORITHMS)("a token signed with %s", (alg) => {
  it("is accepted as the issuer has signed it, with its claims, its identity and its times", async () => {
    await fc.assert(
      fc.asyncProperty(
        goodClaims,
        fc.constantFrom({}, { typ: undefined }, { typ: "at+jwt" }, { x5t: "a" }),
        async (claims, header) => {
          const { key, keys } = targets[alg];
          const token = await signToken({ ...headerOf(key), ...header }, claims, key);
          const { jti, iat, exp } = claims;
          const identity: unknown = jti ?? A_HASH;
          const value = { payload: claims, jti: identity, issuedAt: iat, expiresAt: exp };
          expect(await verify(token, keys)).toEqual({ ok: true, value });
        },
      ),
      { numRuns: runs(200, 10_000) },
    );
  });

  describe.each(CATALOGUE)("is refused for a change %s:", (_, changes) => {
    it.each(Object.entries(changes))("%s", async (name, change) => {
      await fc.assert(
        fc.asyncProperty(goodClaims, fc.nat(), async (claims, seed) => {
          const target = targets[alg];
          const token = await signToken(headerOf(target.key), claims, target.key);
          const changed = await change({ ...target, claims, token, dice: diceOf(seed) });
          expect(FAULTS[name]).toContain(faultOf(await verify(changed, target.keys)));
        }),
        { numRuns: CASES },
      );
    });
  });
});

describe("the times of a token", () => {
  const BOUNDS: readonly (readonly [Json, JwtFault | "accepted"])[] = [
    [{ iat: NOW, exp: NOW + 1 }, "accepted"],
    [{ iat: NOW - 1, exp: NOW }, "expired"],
    [{ iat: NOW - 1, exp: NOW + 0.9 }, "expired"],
    [{ iat: NOW - 1, exp: NOW + 1.9 }, "accepted"],
    [{ iat: NOW, exp: NOW + 86_400 }, "accepted"],
    [{ iat: NOW, exp: NOW + 86_401 }, "lifetime"],
    [{ iat: NOW + 60, exp: NOW + 61 }, "accepted"],
    [{ iat: NOW + 61, exp: NOW + 62 }, "not_yet"],
    [{ iat: NOW, exp: NOW + 99, nbf: NOW + 60 }, "accepted"],
    [{ iat: NOW, exp: NOW + 99, nbf: NOW + 61 }, "not_yet"],
    [{ iat: EXPECTED.notBefore, exp: NOW + 1 }, "accepted"],
    [{ iat: EXPECTED.notBefore - 1, exp: NOW + 1 }, "revoked"],
    [{ iat: NOW, exp: NOW }, "lifetime"],
  ];

  it.each(BOUNDS)("are those up to which it is accepted: %j is %s", async (times, expected) => {
    const { key, keys } = targets.ES256;
    const token = await signToken(headerOf(key), { iss: EXPECTED.issuer, aud: EXPECTED.audience, ...times }, key);
    expect(faultOf(await verify(token, keys))).toBe(expected);
  });
});

const minimal = (changes: Json = {}): Json => ({
  iss: EXPECTED.issuer,
  aud: EXPECTED.audience,
  iat: NOW,
  exp: NOW + 99,
  ...changes,
});

describe("the identity of a token without a jti", () => {
  /** The order of the curve P-256 (FIPS 186-4 appendix D.1.2.3). */
  const ORDER = BigInt("0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551");

  /** The other signature that is valid for the same text: `(r, n - s)`. */
  function otherSignature(token: string): string {
    const signature = decode(partsOf(token)[2]);
    const s = BigInt(`0x${signature.slice(32).toHex()}`);
    const other = Uint8Array.fromHex((ORDER - s).toString(16).padStart(64, "0"));
    return withPart(token, 2, encode(new Uint8Array([...signature.slice(0, 32), ...other])));
  }

  it("is the same under each signature that is valid for its text", async () => {
    const { key, keys } = targets.ES256;
    const token = await signToken(headerOf(key), minimal(), key);
    const [one, another] = [await verify(token, keys), await verify(otherSignature(token), keys)];
    expect(another).toEqual(one);
    const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(token.replace(/\.[^.]*$/, ""))));
    expect(one).toMatchObject({ ok: true, value: { jti: `sha256:${hash.toHex()}` } });
  });

  it.each(ALGORITHMS)("is another one for each other header or payload: %s", async (alg) => {
    const { key, keys } = targets[alg];
    const tokens = [
      await signToken(headerOf(key), minimal(), key),
      await signToken(headerOf(key), minimal({ job: 1 }), key),
      await signToken({ ...headerOf(key), typ: undefined }, minimal(), key),
    ];
    const verdicts = await Promise.all(tokens.map((token) => verify(token, keys)));
    expect(new Set(verdicts.map((verdict) => verdict.ok && verdict.value.jti)).size).toBe(tokens.length);
  });
});

describe("the keys of an issuer", () => {
  it.each(ALGORITHMS)("verify no token by an id that two of them share: %s", async (alg) => {
    const { key, foreign } = targets[alg];
    const token = await signToken(headerOf(key), minimal(), key);
    const twin = { ...foreign.usable, kid: key.kid };
    expect(faultOf(await verify(token, [key.usable, twin]))).toBe("unknown_key");
    expect(faultOf(await verify(token, []))).toBe("unknown_key");
  });

  it("of another algorithm may have the same id", async () => {
    const [rsa, ec] = [targets.RS256.key, await newSigningKey("ES256", targets.RS256.key.kid)];
    for (const key of [rsa, ec]) {
      const token = await signToken(headerOf(key), minimal(), key);
      expect(faultOf(await verify(token, [rsa.usable, ec.usable]))).toBe("accepted");
    }
  });

  it("that are on no curve verify nothing, and throw nothing", async () => {
    const { key } = targets.ES256;
    const token = await signToken(headerOf(key), minimal(), key);
    const off = usableKeys([{ ...key.jwk, y: key.jwk["x"] }]);
    expect(faultOf(await verify(token, off))).toBe("signature");
  });
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
    const { jwk, kid } = targets[alg].key;
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
      expect(usableKeys([{ ...targets[alg].key.jwk, ...change }])).toEqual([]);
    },
  );
});

describe("a set of keys", () => {
  it("may have entries that are no keys", () => {
    const { jwk, usable } = targets.ES256.key;
    expect(usableKeys([null, 1, "a", [], {}, jwk, [jwk], { keys: [jwk] }])).toEqual([usable]);
  });

  it("may begin a modulus with zeros, which are not counted", () => {
    const modulus = Uint8Array.fromBase64(String(targets.RS256.key.jwk["n"]), { alphabet: "base64url" });
    const padded = encode(new Uint8Array([0, ...modulus]));
    expect(usableKeys([{ ...targets.RS256.key.jwk, n: padded }])).toHaveLength(1);
  });
});

function parse(set: unknown): unknown {
  const parsed = parseValue(givenKeys, set, "jwks");
  return parsed.ok ? parsed.value : parsed.failure.detail;
}

describe("the keys that an admin gives", () => {
  it("are those that verify tokens", () => {
    const { jwk, usable } = targets.RS256.key;
    expect(parse({ keys: [{ kty: "OKP", crv: "Ed25519", x: "a", kid: "b" }, jwk] })).toEqual([usable]);
  });

  it("are refused with a private key, whatever else is wrong with it", async () => {
    const pair = targets.RS256.key.pair;
    const secret = await crypto.subtle.exportKey("jwk", pair.privateKey);
    for (const key of [secret, { kty: "oct", k: "canary" }, { d: "canary" }])
      expect(parse({ keys: [targets.RS256.key.jwk, key] })).toBe("jwks: has a private key: give the public ones only");
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
