import * as fc from "fast-check";
import { type Expected, JWT_CHARACTERS_MAX, type JwtFault } from "../../src/crypto/jwt.ts";
import type { WorkloadKey } from "../../src/model/workload-keys.ts";
import { CHARACTER } from "./characters.ts";
import { seeded } from "./seeded.ts";
import { ALGORITHMS, encode, encodeText, headerOf, type Json, signParts, type SigningKey, signToken } from "./workload-tokens.ts";

/** The catalogue of changes of a workload's token, each of which makes one that is refused. */

/** Unix seconds. */
export const NOW = 1_800_000_000;
export const EXPECTED: Expected = {
  issuer: "https://issuer.example.com",
  audience: "https://vault.example.com",
  notBefore: NOW - 1000,
  lifetimeMax: 86_400,
};

export interface Target {
  /** Of the issuer's set, with other keys of both algorithms. */
  readonly key: SigningKey;
  readonly keys: readonly WorkloadKey[];
  /** Of the same algorithm, and in nobody's set. */
  readonly foreign: SigningKey;
}

/** The claims of a token without a fault. The lengths of texts vary, because base64url spells them differently. */
export const goodClaims: fc.Arbitrary<Json> = fc
  .record(
    {
      aud: fc.constantFrom<unknown>(EXPECTED.audience, [EXPECTED.audience], ["https://a.example.com", EXPECTED.audience]),
      iat: fc.integer({ min: NOW - 1000, max: NOW + 60 }),
      lifetime: fc.integer({ min: 1, max: 86_400 }),
      nbf: fc.integer({ min: 0, max: NOW + 60 }),
      jti: fc.uuid(),
      sub: fc.string({ unit: CHARACTER, maxLength: 40 }),
      repository_id: fc.string({ maxLength: 9 }),
      "kubernetes.io": fc.record({ namespace: fc.string(), serviceaccount: fc.record({ uid: fc.uuid() }) }),
    },
    { requiredKeys: ["aud", "iat", "lifetime"] },
  )
  .map(({ lifetime, ...claims }) => Object.assign(claims, { iss: EXPECTED.issuer, exp: Math.max(claims.iat, NOW) + lifetime }))
  .filter(({ exp, iat }) => exp - iat <= 86_400);

/** Random numbers of a case, all from its seed. */
interface Dice {
  /** An integer from 0 up to, and without, `end`. */
  readonly below: (end: number) => number;
  readonly pick: <T>(values: readonly T[]) => T;
}

export function diceOf(seed: number): Dice {
  const random = seeded(seed);
  const below = (end: number) => Math.floor(random() * end);
  return { below, pick: (values) => values[below(values.length)]! };
}

interface Given extends Target {
  readonly claims: Json;
  /** The token without a fault. */
  readonly token: string;
  readonly dice: Dice;
}

/** Makes another token of one without a fault. */
export type Change = (given: Given) => string | Promise<string>;

const splice = (text: string, at: number, removed: number, added: string) => text.slice(0, at) + added + text.slice(at + removed);
export const decode = (part: string) => Uint8Array.fromBase64(part, { alphabet: "base64url" });
export const partsOf = (token: string) => token.split(".") as [string, string, string];
export const withPart = (token: string, index: number, part: string) => partsOf(token).with(index, part).join(".");

const flipBit =
  (part: number): Change =>
  ({ token, dice }) => {
    const bytes = decode(partsOf(token)[part]!);
    const at = dice.below(bytes.length);
    bytes[at]! ^= 1 << dice.below(8);
    return withPart(token, part, encode(bytes));
  };

/** Other spellings of the bytes of a part: only one is canonical. */
const respelled: Change = ({ token, dice }) => {
  const parts = partsOf(token);
  const part = dice.below(3);
  const text = parts[part]!;
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const unused = text.length % 4 === 2 ? 4 : text.length % 4 === 3 ? 2 : 0; // bits of the last character that no byte has
  const last = alphabet.indexOf(text.at(-1)!);
  if (unused > 0 && dice.below(2) === 0)
    return withPart(token, part, text.slice(0, -1) + alphabet[last ^ (1 + dice.below(2 ** unused - 1))]!);
  return withPart(token, part, dice.pick([`${text}=`, `${text}==`, `${text}====`, ` ${text}`, `${text}\n`, `${text}\0`]));
};

/** A JSON object with one more pair, at its beginning or at its end. */
const withPair = (object: string, pair: string, { below }: Dice): string =>
  below(2) === 0 ? `{${pair},${object.slice(1)}` : `${object.slice(0, -1)},${pair}}`;

/** Texts that are no JSON object, most of which are nearly that one. */
function noObjects(object: string): readonly string[] {
  const near = [`[${object}]`, `${object}}`, `\ufeff${object}`, `${object}//`, `${object}\0`, `${object.slice(0, -1)},}`];
  return ["{", "[]", "null", "1", '"a"', " ", object.replaceAll('"', "'"), ...near];
}

/** What is no part of a token, or looks as if it were. */
const ODD = [..." \n\t\0.=+/~,\u00a0\u200b\ufeff\uff21\u0430\u{1f600}", "\ud800", "..", "%2e"];

/** Changes of the text of a token, which nobody signs again. */
const TEXTS: Readonly<Record<string, Change>> = {
  "a bit of its header is flipped": flipBit(0),
  "a bit of its payload is flipped": flipBit(1),
  "a bit of its signature is flipped": flipBit(2),
  "its bytes are spelled otherwise": respelled,
  "a character is replaced": ({ token, dice }) => {
    const at = dice.below(token.length);
    const others = [..."AZaz09-_.", ...ODD].filter((one) => one !== token[at]);
    return splice(token, at, 1, dice.pick(others));
  },
  "a character is inserted": ({ token, dice }) =>
    splice(token, dice.below(token.length + 1), 0, dice.pick([..."Aa0-_.", ...ODD])),
  "characters are removed": ({ token, dice }) => splice(token, dice.below(token.length - 1), 1 + dice.below(20), ""),
  "it is cut off": ({ token, dice }) => token.slice(0, dice.below(token.length)),
  "it has something around it": ({ token, dice }) => {
    const odd = dice.pick([...ODD, "Bearer ", ".e30", "e30.", token, `${token},`, `.${token}`]);
    return dice.below(2) === 0 ? odd + token : token + odd;
  },
  "its parts are in another order, or repeated": ({ token, dice }) => {
    const parts = partsOf(token);
    const count = 2 + dice.below(4);
    const chosen = Array.from({ length: count }, () => dice.pick(parts));
    return chosen.join(".") === token ? parts.toReversed().join(".") : chosen.join(".");
  },
  "a part is empty": ({ token, dice }) => withPart(token, dice.below(3), ""),
  "it is longer than 16 KiB": async ({ claims, key, dice }) =>
    signToken(headerOf(key), { ...claims, filler: "x".repeat(JWT_CHARACTERS_MAX + dice.below(10_000)) }, key),
  "a part is that of another token": async ({ token, claims, key, dice }) => {
    const another = await signToken(headerOf(key), { ...claims, other: dice.below(2 ** 32) }, key);
    const part = 1 + dice.below(2);
    return withPart(token, part, partsOf(another)[part]!);
  },
  "a claim is changed": ({ token, claims, dice }) => {
    const name = dice.pick([...Object.keys(claims), "sub", "repository_id", "admin"]);
    const value = dice.pick(["root", NOW + 0.5, true, null, ["a"]]);
    return withPart(token, 1, encodeText(JSON.stringify({ ...claims, [name]: value })));
  },
  "a claim is repeated": ({ token, claims, dice }) => {
    const name = dice.pick(Object.keys(claims));
    const pair = `${JSON.stringify(name)}:${JSON.stringify(dice.pick<unknown>([claims[name], "root", NOW + 0.5]))}`;
    return withPart(token, 1, encodeText(withPair(JSON.stringify(claims), pair, dice)));
  },
  "its JSON has other white space": ({ token, claims, dice }) =>
    withPart(token, 1, encodeText(JSON.stringify(claims, undefined, dice.pick([" ", "\t", "  "])))),
  "its signature is of zeros, ones, or another length": ({ token, dice }) => {
    const { length } = decode(partsOf(token)[2]);
    const size = dice.pick([length, length, length - 1, length + 1, 1, 64, 256, 0]);
    return withPart(token, 2, encode(new Uint8Array(size).fill(dice.pick([0, 255, 1]))));
  },
};

const encoder = new TextEncoder();

/** HMAC with something that everybody knows as the secret. */
const hmac: Change = async ({ key, claims, dice }) => {
  const spki = new Uint8Array((await crypto.subtle.exportKey("spki", key.pair.publicKey)) as ArrayBuffer);
  const pem = `-----BEGIN PUBLIC KEY-----\n${spki.toBase64().replace(/.{64}/g, "$&\n")}\n-----END PUBLIC KEY-----`;
  const secrets = [spki, pem, `${pem}\n`, String(key.jwk["n"] ?? key.jwk["x"]), JSON.stringify(key.jwk), key.kid, "\0", "secret"];
  const secret = dice.pick(secrets);
  const [name, hash] = dice.pick([
    ["HS256", "SHA-256"],
    ["HS384", "SHA-384"],
    ["HS512", "SHA-512"],
    [key.alg, "SHA-256"],
  ] as const);
  const signed = `${encodeText(JSON.stringify({ ...headerOf(key), alg: name }))}.${encodeText(JSON.stringify(claims))}`;
  const raw = typeof secret === "string" ? encoder.encode(secret) : secret;
  const imported = await crypto.subtle.importKey("raw", raw, { name: "HMAC", hash }, false, ["sign"]);
  return `${signed}.${encode(new Uint8Array(await crypto.subtle.sign("HMAC", imported, encoder.encode(signed))))}`;
};

const resigned =
  (changeOf: (given: Given) => Json): Change =>
  (given) => {
    const { key, claims } = given;
    return signToken({ ...headerOf(key), ...changeOf(given) }, claims, key);
  };

const OTHER_ALGORITHMS =
  "none None NONE HS256 RS384 RS512 PS256 ES384 ES512 ES256K EdDSA Ed25519 rs256 es256 RSA-OAEP __proto__ constructor".split(" ");

const OTHER_IDS: readonly unknown[] = ["", "*", "../keys", "' OR 1=1 --", "__proto__", "constructor", null, 0, true, undefined];

/** Changes of the header, which the issuer's own key signs. */
const HEADERS: Readonly<Record<string, Change>> = {
  "its algorithm is another one": ({ key, claims, dice }) => {
    const others = [...OTHER_ALGORITHMS, ...ALGORITHMS.filter((alg) => alg !== key.alg)];
    const alg = dice.pick<unknown>([...others, null, 1, [key.alg], { alg: key.alg }, true]);
    return signToken({ ...headerOf(key), alg }, claims, key);
  },
  "it has no algorithm, or none with no signature": async (given) => {
    const alg = given.dice.pick([undefined, "none", "None", "NONE", given.key.alg]);
    const text = await resigned(() => ({ alg }))(given);
    return given.dice.below(2) === 0 || alg === given.key.alg ? text.replace(/[^.]*$/, "") : text;
  },
  "its algorithm is that of HMAC with a public secret": hmac,
  "its key id is another one": resigned(({ key, keys, dice }) => {
    const { kid } = key;
    const others = keys.map((one) => one.kid).filter((one) => one !== kid);
    const near = [`${kid} `, `${kid}\0`, kid.slice(1), `${kid.toUpperCase()}x`, "x".repeat(300), [kid], { kid }];
    return { kid: dice.pick<unknown>([...others, ...near, ...OTHER_IDS]) };
  }),
  "it names or brings a key, or asks for more than a signature": resigned(({ foreign, dice }) => {
    const name = dice.pick(["jku", "jwk", "x5u", "x5c", "crit", "b64", "zip"]);
    const values = [[], ["exp"], ["b64"], true, false, null, "", "DEF"];
    return { [name]: dice.pick<unknown>([foreign.jwk, "https://attacker.example.com/keys", ...values]) };
  }),
  "it is of another type": resigned(({ dice }) => ({
    typ: dice.pick<unknown>(["logout+jwt", "secevent+jwt", "JOSE", "", "JWT ", "dpop+jwt", null, 1, ["JWT"], true]),
  })),
  "its header has a name twice": ({ key, claims, dice }) => {
    const pairs = ['"alg":"none"', `"alg":"${key.alg}"`, '"kid":"other"', `"kid":"${key.kid}"`, '"\\u0061lg":"none"'];
    const header = withPair(JSON.stringify(headerOf(key)), dice.pick(pairs), dice);
    return signParts(header, JSON.stringify(claims), key);
  },
  "its header is no JSON object": ({ key, claims, dice }) =>
    signParts(dice.pick(noObjects(JSON.stringify(headerOf(key)))), JSON.stringify(claims), key),
};

const KEYS: Readonly<Record<string, Change>> = {
  "it is signed with another key under the issuer's key id": ({ foreign, key, claims }) =>
    signToken(headerOf(key), claims, foreign),
  "it is signed with another key under its own key id": ({ foreign, claims }) => signToken(headerOf(foreign), claims, foreign),
  "it is signed with another key, which it brings along": ({ foreign, key, claims, dice }) =>
    signToken(
      {
        ...headerOf(key),
        [dice.pick(["jwk", "x5c", "jku", "x5u"])]: { ...foreign.jwk, kid: key.kid },
        kid: dice.pick([key.kid, foreign.kid]),
      },
      claims,
      foreign,
    ),
};

const changedClaims =
  (change: (given: Given) => Json): Change =>
  (given) =>
    signToken(headerOf(given.key), { ...given.claims, ...change(given) }, given.key);

const notATime = ({ dice }: Given) =>
  dice.pick<unknown>([undefined, null, true, [], {}, "", String(NOW + 100), "2099-01-01T00:00:00Z", [NOW + 100], -1, -NOW]);

/** Changes of the claims, which the issuer's own key signs. */
const CLAIMS: Readonly<Record<string, Change>> = {
  "its issuer is another one": changedClaims(({ dice }) => {
    const { issuer } = EXPECTED;
    const longer = ["/", " ", ".", ":443", "#"].map((end) => issuer + end);
    const others = [issuer.toUpperCase(), issuer.replace("https", "http"), issuer.slice(0, -1), issuer.replace("i", "\uff49")];
    return { iss: dice.pick<unknown>([...longer, ...others, "", [issuer], { issuer }, null, undefined, 1]) };
  }),
  "its audience is another one": changedClaims(({ dice }) => {
    const { audience } = EXPECTED;
    const longer = ["//", ".evil.com", ",https://a.example.com"].map((end) => audience + end);
    const others = [` ${audience}`, audience.toUpperCase(), audience.replace("https", "http"), audience.slice(0, -1)];
    const texts = [...longer, ...others, "*", "", JSON.stringify([audience])];
    const lists = [[], [[audience]], [audience, 1], [null, audience]];
    const values: unknown[] = [undefined, null, 1, true, {}, { [audience]: true }, ...lists];
    return { aud: dice.pick<unknown>([dice.pick(values), dice.pick(texts), [dice.pick(texts)], texts]) };
  }),
  "it has expired": changedClaims(({ dice }) => {
    const exp = NOW - dice.pick([0, 0, 1, 59, 60, 61, dice.below(900)]);
    return { exp: dice.pick([exp, exp - 0.5]), iat: exp - 1 - dice.below(99), nbf: 0 };
  }),
  "its expiry is no time": changedClaims((given) => ({ exp: notATime(given) })),
  "its time of issue is no time": changedClaims((given) => ({ iat: notATime(given) })),
  "it is issued in the future": changedClaims(({ dice }) => {
    const iat = NOW + 61 + dice.below(dice.pick([1, 1000, 10 ** 9]));
    return { iat, exp: iat + 100 };
  }),
  "it is not valid yet": changedClaims(({ dice }) => ({ nbf: NOW + 61 + dice.below(dice.pick([1, 1000, 10 ** 9])) })),
  "its beginning is no time": changedClaims(({ dice }) => ({
    nbf: dice.pick<unknown>([null, true, [], {}, "", "0", String(NOW), -1]),
  })),
  "it lives longer than a day": changedClaims(({ dice }) => {
    const iat = NOW - dice.below(1000);
    return { iat, exp: iat + 86_400 + dice.pick([1, 0.5, 2 + dice.below(10 ** 9)]) };
  }),
  "it ends before it begins": changedClaims(({ dice }) => {
    const exp = NOW + 1 + dice.below(59);
    return { exp, iat: exp + dice.below(60 - (exp - NOW) + 1) };
  }),
  "it is older than the tokens that are accepted": changedClaims(({ dice }) => ({
    iat: NOW - 1001 - dice.below(80_000),
    exp: NOW + 1 + dice.below(4000),
  })),
  "its times are numbers that are not finite": ({ key, claims, dice }) => {
    const text = JSON.stringify({ ...claims, iat: "IAT", exp: "EXP" });
    const [iat, exp] = dice.pick([
      ["1e999", "1e999"],
      [String(NOW), "1e999"],
      ["-1e999", String(NOW + 9)],
      ["1e999", String(NOW + 9)],
    ]);
    return signParts(JSON.stringify(headerOf(key)), text.replace('"IAT"', iat).replace('"EXP"', exp), key);
  },
  "its identity is no text that can be stored": changedClaims(({ dice }) => {
    const texts = ["", "x".repeat(256 + dice.below(99)), "\ud800", `sha256:${dice.below(99)}`];
    return { jti: dice.pick<unknown>([null, 1, true, [], ["a"], {}, ...texts]) };
  }),
  "it has a claim twice": ({ key, claims, dice }) => {
    const name = dice.pick(Object.keys(claims));
    const repeated = `${JSON.stringify(name)}:${JSON.stringify(claims[name])}`;
    const text = JSON.stringify(claims);
    const payloads = [
      `{${repeated},${text.slice(1)}`,
      `${text.slice(0, -1)},${repeated}}`,
      `${text.slice(0, -1)},"\\u0061ud":"${EXPECTED.audience}"}`,
      `${text.slice(0, -1)},"deep":{"a":[{"b":1,"b":1}]}}`,
    ];
    return signParts(JSON.stringify(headerOf(key)), dice.pick(payloads), key);
  },
  "its payload is no JSON object": async ({ key, claims, token, dice }) => {
    const text = JSON.stringify(claims);
    const deep = `${text.slice(0, -1)},"deep":${"[".repeat(32)}${"]".repeat(32)}}`;
    const payloads = [
      ...noObjects(text),
      token,
      deep,
      Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d),
      encoder.encode(`${text.slice(0, -1)},"a":"\u00e9"}`).filter((byte) => byte !== 0xa9),
    ];
    return signParts(JSON.stringify(headerOf(key)), dice.pick(payloads), key);
  },
};

/** Of a text that nobody has signed. */
const UNSIGNED: readonly JwtFault[] = ["malformed", "header", "algorithm", "claims", "unknown_key", "signature"];

/** The words for the log that each change may lead to. */
export const FAULTS: Readonly<Record<string, readonly JwtFault[]>> = {
  "a bit of its header is flipped": UNSIGNED,
  "a bit of its payload is flipped": UNSIGNED,
  "a bit of its signature is flipped": ["signature"],
  "its bytes are spelled otherwise": ["malformed"],
  "a character is replaced": UNSIGNED,
  "a character is inserted": UNSIGNED,
  "characters are removed": UNSIGNED,
  "it is cut off": UNSIGNED,
  "it has something around it": UNSIGNED,
  "its parts are in another order, or repeated": UNSIGNED,
  "a part is empty": ["malformed"],
  "it is longer than 16 KiB": ["malformed"],
  "a part is that of another token": ["signature"],
  "a claim is changed": ["signature", "claims"],
  "a claim is repeated": ["malformed"],
  "its JSON has other white space": ["signature"],
  "its signature is of zeros, ones, or another length": ["signature", "malformed"],
  "its algorithm is another one": ["algorithm", "unknown_key"],
  "it has no algorithm, or none with no signature": ["algorithm", "malformed"],
  "its algorithm is that of HMAC with a public secret": ["algorithm", "signature"],
  "its key id is another one": ["header", "unknown_key", "signature"],
  "it names or brings a key, or asks for more than a signature": ["header"],
  "it is of another type": ["header"],
  "its header has a name twice": ["malformed"],
  "its header is no JSON object": ["malformed"],
  "it is signed with another key under the issuer's key id": ["signature"],
  "it is signed with another key under its own key id": ["unknown_key"],
  "it is signed with another key, which it brings along": ["header"],
  "its issuer is another one": ["issuer", "claims"],
  "its audience is another one": ["audience", "claims"],
  "it has expired": ["expired"],
  "its expiry is no time": ["claims"],
  "its time of issue is no time": ["claims"],
  "it is issued in the future": ["not_yet"],
  "it is not valid yet": ["not_yet"],
  "its beginning is no time": ["claims"],
  "it lives longer than a day": ["lifetime"],
  "it ends before it begins": ["lifetime"],
  "it is older than the tokens that are accepted": ["revoked"],
  "its times are numbers that are not finite": ["claims"],
  "its identity is no text that can be stored": ["claims"],
  "it has a claim twice": ["malformed"],
  "its payload is no JSON object": ["malformed"],
};

export const CATALOGUE: readonly (readonly [what: string, changes: Readonly<Record<string, Change>>])[] = [
  ["of its text", TEXTS],
  ["of its header", HEADERS],
  ["of its signature", KEYS],
  ["of its claims", CLAIMS],
];
