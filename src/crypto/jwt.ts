import { compactVerify } from "jose";
import { parseBase64url } from "../model/base64url.ts";
import { type JsonObject, parseStrictObject } from "../model/strict-json.ts";
import { MINUTE, SECOND } from "../model/time.ts";
import { KEY_ID_MAX, type WorkloadAlgorithm, type WorkloadKey } from "../model/workload-keys.ts";

/** The JWTs (RFC 7519) of other issuers, signed with RS256 or ES256 (RFC 7518 section 3.1): tokens of workloads and of Cloudflare Access. */

/** Why a token is refused. Only the log gets the word, which contains nothing of the token. */
const JWT_FAULTS = [
  "malformed", // the text is not three parts of base64url, or a part is not what it must be
  "header",
  "algorithm",
  "unknown_key",
  "signature",
  "claims", // a claim that is needed is absent, or of another type
  "issuer",
  "audience",
  "lifetime",
  "expired",
  "not_yet",
  "revoked", // issued before the time from which tokens are accepted
] as const;

export type JwtFault = (typeof JWT_FAULTS)[number];

/** The result of parsing and verification. */
export type Verdict<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly fault: JwtFault };

/** A token that was parsed. Nothing of it is verified. */
interface ParsedJwt {
  readonly text: string;
  readonly issuer: string;
  readonly keyId: string;
  readonly algorithm: WorkloadAlgorithm;
  readonly payload: JsonObject;
}

/** The required claims of a token. */
export interface Expected {
  readonly issuer: string;
  readonly audience: string;
  /** The Unix second before which no token may be issued. */
  readonly notBefore: number;
  /** Seconds between its issue and its expiry. */
  readonly lifetimeMax: number;
}

/** A token that was verified. */
export interface VerifiedJwt {
  readonly payload: JsonObject;
  /** The token's `jti`, or `sha256:` and the hexadecimal hash of the signed text. */
  readonly jti: string;
  /** Unix seconds. The token has no tolerance beyond `expiresAt`, so until then a second use of it can be found. */
  readonly issuedAt: number;
  readonly expiresAt: number;
}

export const JWT_CHARACTERS_MAX = 16 * 1024;
/** Other machines make the tokens, and their clocks may be ahead. */
const CLOCK_SKEW_MS_MAX = MINUTE;
/** Characters of a `jti`, which is stored and logged. */
const JTI_MAX = 255;
const ALGORITHMS: ReadonlySet<unknown> = new Set<WorkloadAlgorithm>(["RS256", "ES256"]);
/** Parameters that name or bring a key, or ask for more than a signature (RFC 7515 section 4.1, RFC 7797, RFC 7516). None is followed. */
const FOREIGN = ["jku", "jwk", "x5u", "x5c", "crit", "b64", "zip"];
/**
 * The types of tokens that are for the service (RFC 7519 section 5.1, RFC 9068 section 2.1), in small letters. Other types, such as logout
 * tokens, are not.
 */
const TYPES: ReadonlySet<unknown> = new Set([undefined, "jwt", "at+jwt"]);

const refuse = (fault: JwtFault) => ({ ok: false, fault }) as const;

/**
 * Parses a token in compact form (RFC 7515 section 3.1). It has three parts of unpadded base64url in canonical form (RFC 4648 section 3.5).
 * The first two are JSON objects without a repeated name. Returns the unverified values that identify the issuer and its key.
 */
export function parseJwt(text: string): Verdict<ParsedJwt> {
  if (text.length > JWT_CHARACTERS_MAX || !/^[\w-]+\.[\w-]+\.[\w-]+$/.test(text)) return refuse("malformed");
  const [header, payload, signature] = text.split(".").map(parseBase64url);
  if (!header || !payload || !signature) return refuse("malformed");
  const [parameters, claims] = [parseStrictObject(header), parseStrictObject(payload)];
  if (!parameters || !claims) return refuse("malformed");
  const { alg, kid, typ } = parameters;
  if (FOREIGN.some((name) => Object.hasOwn(parameters, name))) return refuse("header");
  if (!TYPES.has(typeof typ === "string" ? typ.toLowerCase() : typ)) return refuse("header");
  if (!ALGORITHMS.has(alg)) return refuse("algorithm");
  if (typeof kid !== "string" || kid === "" || kid.length > KEY_ID_MAX) return refuse("header");
  if (typeof claims["iss"] !== "string") return refuse("claims");
  return {
    ok: true,
    value: { text, issuer: claims["iss"], keyId: kid, algorithm: alg as WorkloadAlgorithm, payload: claims },
  };
}

/**
 * Verifies a token with the keys of its issuer. `now` is in Unix milliseconds. The signature is verified first, so every later fault is the
 * issuer's own. A key is selected by id and algorithm (RFC 7515 section 4.1.4). An id shared by several keys selects none.
 */
export async function verifyJwt(
  token: ParsedJwt,
  keys: readonly WorkloadKey[],
  expected: Expected,
  now: number,
): Promise<Verdict<VerifiedJwt>> {
  const { text, keyId, algorithm, payload } = token;
  const [key, another] = keys.filter(({ kid, alg }) => kid === keyId && alg === algorithm);
  if (key === undefined || another !== undefined) return refuse("unknown_key");
  try {
    await compactVerify(text, key, { algorithms: [key.alg] });
  } catch {
    return refuse("signature"); // the error may quote the token
  }
  if (!hasTypes(payload)) return refuse("claims");
  const broken = RULES.find(([, isBroken]) => isBroken(payload, expected, now));
  if (broken) return refuse(broken[0]);
  const { iat, exp, jti } = payload;
  return {
    ok: true,
    value: { payload, jti: jti ?? (await hashOf(text)), issuedAt: Math.floor(iat), expiresAt: Math.floor(exp) },
  };
}

/** The claims that the service itself reads, with the types of RFC 7519 section 4.1. */
interface Claims extends JsonObject {
  readonly iss: string;
  readonly aud: string | readonly string[];
  readonly exp: number;
  readonly iat: number;
  readonly nbf?: number;
  readonly jti?: string;
}

/** Returns true for a NumericDate, which may have a fraction (RFC 7519 section 2). `JSON.parse` turns `1e999` into infinity. */
const isDate = (value: unknown): boolean => Number.isFinite(value) && (value as number) >= 0;
const isText = (value: unknown): value is string => typeof value === "string";
const isIdentity = (value: unknown): boolean =>
  isText(value) && value !== "" && value.length <= JTI_MAX && value.isWellFormed() && !value.startsWith(HASH_PREFIX);

const TYPE_OF: Readonly<Record<string, (value: unknown) => boolean>> = {
  iss: isText,
  aud: (value) => isText(value) || (Array.isArray(value) && value.every(isText)),
  exp: isDate,
  iat: isDate,
  nbf: (value) => value === undefined || isDate(value),
  jti: (value) => value === undefined || isIdentity(value),
};

const hasTypes = (payload: JsonObject): payload is Claims =>
  Object.entries(TYPE_OF).every(([name, isType]) => isType(Object.hasOwn(payload, name) ? payload[name] : undefined));

/** Platforms and libraries add a slash to an origin, or drop it. */
const withoutSlash = (audience: string): string => audience.replace(/\/$/, "");

type Rule = readonly [fault: JwtFault, isBroken: (claims: Claims, expected: Expected, now: number) => boolean];

/** The rules of the claims, in order. */
const RULES: readonly Rule[] = [
  ["issuer", ({ iss }, { issuer }) => iss !== issuer],
  ["audience", ({ aud }, { audience }) => ![aud].flat().some((one) => withoutSlash(one) === withoutSlash(audience))],
  ["lifetime", ({ iat, exp }, { lifetimeMax }) => exp <= iat || exp - iat > lifetimeMax],
  ["expired", ({ exp }, _, now) => Math.floor(exp) * SECOND <= now],
  ["not_yet", ({ iat, nbf = 0 }, _, now) => Math.max(iat, nbf) * SECOND > now + CLOCK_SKEW_MS_MAX],
  ["revoked", ({ iat }, { notBefore }) => iat < notBefore],
];

const HASH_PREFIX = "sha256:";

/**
 * Returns the identity of a token without a `jti`. The hash excludes the signature, because ES256 signatures are malleable: `(r,
 * n - s)` is valid if `(r, s)` is. With the signature in the hash, a token could be used twice.
 */
async function hashOf(text: string): Promise<string> {
  const signed = new TextEncoder().encode(text.slice(0, text.lastIndexOf(".")));
  return HASH_PREFIX + new Uint8Array(await crypto.subtle.digest("SHA-256", signed)).toHex();
}
