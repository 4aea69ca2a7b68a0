import * as z from "zod/mini";
import { parseBase64url } from "./base64url.ts";
import { isObject, type JsonObject } from "./strict-json.ts";
import { fault } from "./text.ts";

/** The public keys of issuers of workload tokens: JWK sets (RFC 7517 section 5). Only keys that can verify a token are kept. */

/** The algorithms that a workload token may have (RFC 7518 section 3.1). */
export type WorkloadAlgorithm = "RS256" | "ES256";

/** A key of an issuer: the members of the JWK, with the key's one algorithm. */
export type WorkloadKey = RsaKey | EcKey;

type RsaKey = {
  readonly kid: string;
  readonly alg: "RS256";
  readonly kty: "RSA";
  readonly n: string;
  readonly e: string;
};

type EcKey = {
  readonly kid: string;
  readonly alg: "ES256";
  readonly kty: "EC";
  readonly crv: "P-256";
  readonly x: string;
  readonly y: string;
};

export const KEYS_MAX = 100;
/** Characters of a `kid`. */
export const KEY_ID_MAX = 255;
/** RFC 7518 section 3.3 asks for 2048 bits or more. A modulus larger than the second bound takes too much CPU. */
const RSA_BITS = { least: 2048, most: 8192 };
const EC_BYTES = 32;
/** The members that only a private or symmetric key has (RFC 7518 sections 6.2.2, 6.3.2 and 6.4.1). */
const PRIVATE = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"];

/** Parses a key by `kty`. Returns undefined if the key does not fit the algorithm (RFC 7518 sections 6.2.1 and 6.3.1). */
const PARSERS: Readonly<Record<string, (jwk: JsonObject, kid: string) => WorkloadKey | undefined>> = {
  RSA({ n, e }, kid) {
    const [modulus, exponent] = [bytesOf(n), bytesOf(e)];
    if (modulus === undefined || exponent === undefined) return undefined;
    const bits = bitsOf(modulus);
    const fits = bits >= RSA_BITS.least && bits <= RSA_BITS.most && isExponent(exponent);
    return fits ? { kid, alg: "RS256", kty: "RSA", n: n as string, e: e as string } : undefined;
  },
  EC({ crv, x, y }, kid) {
    const fits = crv === "P-256" && [x, y].every((part) => bytesOf(part)?.length === EC_BYTES);
    return fits ? { kid, alg: "ES256", kty: "EC", crv: "P-256", x: x as string, y: y as string } : undefined;
  },
};

/**
 * Returns the keys of a set that verify workload tokens. Other keys are ignored (RFC 7517 section 5): keys of another type, algorithm or
 * use, too short, without a `kid`, or with private members.
 */
export const usableKeys = (keys: readonly unknown[]): WorkloadKey[] =>
  keys.map(parseKey).filter((key): key is WorkloadKey => key !== undefined);

function parseKey(jwk: unknown): WorkloadKey | undefined {
  if (!isObject(jwk) || hasPrivateMember(jwk)) return undefined;
  const { kid, kty, alg, use, key_ops: operations } = jwk;
  if (typeof kid !== "string" || kid === "" || kid.length > KEY_ID_MAX) return undefined;
  if (use !== undefined && use !== "sig") return undefined;
  if (operations !== undefined && !(Array.isArray(operations) && operations.includes("verify"))) return undefined;
  const key = typeof kty === "string" && Object.hasOwn(PARSERS, kty) ? PARSERS[kty]!(jwk, kid) : undefined;
  return alg === undefined || alg === key?.alg ? key : undefined;
}

const hasPrivateMember = (jwk: JsonObject): boolean => PRIVATE.some((name) => Object.hasOwn(jwk, name));

const bytesOf = (text: unknown): Uint8Array | undefined => (typeof text === "string" ? parseBase64url(text) : undefined);

/** Returns the bits of a number in big-endian bytes. */
function bitsOf(bytes: Uint8Array): number {
  const first = bytes.findIndex((byte) => byte !== 0);
  return first < 0 ? 0 : (bytes.length - first) * 8 - (Math.clz32(bytes[first]!) - 24);
}

/** Returns true if a public exponent is odd and more than 1. With 1, a signature would equal the signed text. */
const isExponent = (bytes: Uint8Array): boolean => bytes.length <= 4 && bitsOf(bytes) > 1 && (bytes[bytes.length - 1]! & 1) === 1;

/** The faults of a JWK set from an admin. */
const SET_RULES: readonly (readonly [isBroken: (keys: readonly unknown[]) => boolean, fault: string])[] = [
  [(keys) => keys.length > KEYS_MAX, `has more than ${KEYS_MAX} keys`],
  [(keys) => keys.some((key) => isObject(key) && hasPrivateMember(key)), "has a private key: give the public ones only"],
  [(keys) => usableKeys(keys).length === 0, "has no key with a kid for RS256 or ES256"],
];

/** The JWK set of an issuer, as an admin gives it: `{"keys": […]}`. The result has the keys that can verify tokens. */
export const givenKeys = z.pipe(
  z.custom<{ readonly keys: readonly unknown[] }>(
    (value) => isObject(value) && Array.isArray(value["keys"]),
    fault("is not an object with a list of keys"),
  ),
  z.transform(({ keys }, { issues }): WorkloadKey[] => {
    const wrong = SET_RULES.find(([isBroken]) => isBroken(keys))?.[1];
    if (wrong !== undefined) issues.push({ code: "custom", message: wrong, input: keys });
    return usableKeys(keys);
  }),
);
